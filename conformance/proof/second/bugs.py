"""Faults that can be planted, as developers make them, and the lines that they break."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Bug:
    """A fault, and the line of the specification that it breaks."""

    line: int
    statement: str


_TABLE = """
any-secret|424|Any secret is taken with a known token id.
agent-anyone|420|An agent reaches the customers of others.
page-overlap|342|The last record of a page is the first of the next one.
page-gap|342|A record between two pages is left out.
first-fault-only|209|Only the first invalid field is told.
incorporation-date-optional|326|A business needs no incorporatedOn.
tax-id-unchecked|65|Any taxId is taken for any country.
single-word-name|51|A single-word name passes.
ssn-without-hyphens|56|An SSN without hyphens is taken.
any-terms-version|451|The acceptance of any version of the terms is taken.
terms-forgotten|329|Quotes do not ask for the acceptance of the terms.
no-pending-event|436|No event tells that a review begins.
kyc-for-business|437|The decision on a business is told as CUSTOMER.KYC_….
rename-reopens|258|Renaming a customer takes its decision away.
any-channel|325|A channel that needs no verification is verified.
any-contact-code|262|Any one-time code verifies a channel.
early-link|325|A hosted link is given before the contact channels are verified.
same-link|324|Every call for a hosted link answers with the same one.
authority-optional|327|An identity document needs no number and no authority.
blurred-accepted|327|A document that is not in focus is accepted.
large-file|327|Files of up to 40 MB are taken.
one-error-entry|260|Only the first missing field or document is told.
pending-despite-errors|254|The review begins although something is missing.
long-key|347|An Idempotency-Key of 256 characters is taken.
key-optional|347|POST /internal-accounts needs no Idempotency-Key.
key-forgotten|350|A retry with the same key makes a second account.
key-reuse|350|A key that is used for another account answers with the first one.
long-label|486|A label of any length is taken.
rules-for-business|348|A business gets a rule-based account.
sweep-stays|351|What arrives on a rule-based account stays there.
sweep-anyway|349|A sweep that cannot complete leaves no money with the holder.
total-without-held|79|The total balance leaves out pending and held money.
held-is-available|78|The balance includes held money.
no-balance-event|435|A changed balance is told to nobody.
overdraft|451|An account can spend more than it has.
overdraft-of-one|451|An account can spend one unit more than it has.
frozen-receives|222|A frozen account takes deposits.
frozen-sends|222|A frozen account sends payments.
closed-receives|221|A closed account is a destination.
accounts-of-others|341|The list of a customer's accounts has those of others.
currency-filter-ignored|342|The filter by currency is not applied.
no-recall-event|434|The refund of a deposit is told to nobody.
unapproved-pays|21|A customer who is not approved pays.
short-clabe|110|A CLABE of any length is taken.
half-form|112|Required members of an account may be missing.
lightning-any|127|Several Lightning destinations are taken at once.
african-tax-id|149|A business in Africa needs no taxId.
rails-taken-over|109|The payment rails that a client sends are taken over.
trusted-deleted|368|A trusted beneficiary is deleted.
delete-keeps|363|A deleted external account is still there.
untrust-unproven|364|Trust is taken away without a proof.
any-owner|228|Any signature proves the ownership of an account.
disproved-inactive|229|A failed proof of ownership makes an account INACTIVE.
no-account-event|438|A changed status of an external account is told to nobody.
inactive-receives|103|An external account that is not active is paid.
discoveries-any-country|302|Institutions of other countries are listed.
lookup-always-dollars|297|A lookup is priced against dollars, whatever is asked.
lookup-inverse|167|The estimated rate converts to the sender's currency.
long-remittance|381|A remittanceInformation of 81 characters is taken.
zero-amount|451|A quote over nothing is made.
limit-off-by-one|495|One unit above the largest transaction passes.
volume-ignored|496|The daily volume is no limit.
self-payment|451|An account pays itself.
long-quote|493|A quote lives for an hour.
rail-echo|176|The payment rail is echoed.
sides-swapped|378|The locked amount is always the one that is received.
converted-before-fee|187|The fee of the sending currency is taken from the converted amount.
fee-on-net|187|The fee is a fraction of what is left after it.
fee-at-home|335|The standing platform fee is taken within one currency.
fee-in-any-currency|384|Platform fees are taken in any currency.
config-forgotten|335|A changed configuration is answered, and not kept.
quotes-for-ever|386|An expired quote is executed.
transaction-stays-pending|241|The transaction of an expired quote stays pending.
executed-twice|238|A completed quote is executed again, and debited again.
new-transaction-id|181|An executed quote has another transactionId.
debit-forgotten|238|An executed quote does not debit its source.
credit-forgotten|11|The destination of a completed transfer gets nothing.
credit-one-more|180|The destination gets one unit more than the quote says.
challenge-again|239|A quote that waits for an authorization is executed again without 409.
any-proof|240|Any proof authorizes.
one-challenge-only|388|The second challenge is not asked.
lock-ignored|388|A locked customer authorizes.
session-ignored|388|A customer without a session authorizes.
trust-for-all|423|Nobody is asked for strong authentication.
instructions-early|183|Payment instructions are shown before the challenge is satisfied.
any-reference|243|A payment with another reference executes a quote.
no-processing-event|432|No event tells of PROCESSING.
no-completed-event|432|No event tells of COMPLETED.
no-failed-event|432|No event tells of FAILED.
no-failure-reason|245|A failed transaction has no reason.
no-refund|245|A failed transaction is not refunded.
refund-without-money|246|A refund completes, and the source gets nothing back.
no-chain|193|A transaction that settles on a chain has no onChainTransaction.
card-filter-ignored|394|The filter by card is not applied.
card-status-filter|394|A status is combined with the type CARD.
sixth-reset|411|A sixth reset of a day is started.
reset-everywhere|403|A customer outside of the SCA regions resets a factor.
reset-without-liveness|411|A reset completes before liveness has passed.
no-mobile|411|The reset of SMS_OTP completes without a mobile number.
factor-kept|271|A completed reset leaves the factor.
short-session|411|A session ends after 18 days.
wallet-unsigned|422|An embedded wallet pays without a signature.
wallet-any-key|422|The signature of any key passes.
wallet-any-body|422|A signature of another body passes.
second-credential|461|A wallet has two credentials of one kind.
card-before-approval|451|A cardholder who is not approved gets a card.
decline-other|205|Every declined purchase has the reason OTHER.
declined-held|282|A declined purchase holds money.
no-card-event|439|Card transactions are told to nobody.
void-keeps-hold|283|The money of a voided purchase stays held.
refund-orphan|286|A refund does not point to its purchase.
refunded-amount-stays|281|A return leaves refundedAmount as it was.
refunded-status|286|A returned purchase is REFUNDED.
unprovisioned-mint|463|A stablecoin that is not provisioned is minted.
fraction-cut|463|An amount that cannot be represented is cut.
operation-untracked|415|Mints and burns are not listed.
cancelled-invitation|453|A cancelled invitation is claimed.
body-unsigned|443|The signature of a webhook leaves out its body.
pending-just-in-time|21|A customer under review pays with a quote that is funded just in time.
bare-second-challenge|25|The id of the second challenge of a quote has no type.
no-coin-symbol|37|The balance of a crypto account has a currency whose symbol is null.
millisatoshis|38|A lookup shows the currency of a Lightning account with 11 decimals.
trailing-space-name|51|A single word with a space behind it passes as a full name.
alpha-3-address|54|The country of a customer's address may have three letters.
identifier-alone|57|An identifier that is changed without its idType is not held to it.
other-among-others|62|OTHER needs its description only where it is the first category.
platform-owner-in-events|82|Events name an owner of the platform's accounts.
wallet-type-in-events|76|Events say that an embedded wallet is INTERNAL_CRYPTO.
pending-spent|78|A deposit that is still pending can be spent.
total-without-pending|79|The total balance leaves out what is pending, and has what is held.
updated-in-local-time|81|The updatedAt of an account whose status was changed is in local time.
frozen-funds-cards|86|A frozen account still says that it can fund a card.
no-wallet-for-business|88|A business gets no embedded wallet.
owner-by-platform-id|97|An account whose platformAccountId is another customer's goes to that one.
arbitrum-usdc|99|An account on Arbitrum in USDT becomes one in USDC.
pix-random-refused|111|A Pix key of the type RANDOM is refused.
provider-of-neighbour|129|A mobile operator of another currency is taken.
mexican-business-address|146|A business that is paid in MXN needs no address.
no-expiry-at-once|175|A quote that is executed at once has no expiresAt.
executed-net|178|The answer to an execution shows the sending amount without the fee.
late-transaction-id|181|A just-in-time quote has no transactionId before it is funded.
second-challenge-hidden|184|The answer that asks for a second authorization has no challenge.
no-chain-at-source|193|A payment that comes in on a chain has no onChainTransaction.
owner-fault-at-customer|199|What a beneficial owner lacks is told of the customer.
closed-after-quote|221|An account that was closed after the quote still pays.
liveness-untold|228|An ownership that is proven by a liveness check is told to nobody.
platform-fee-left|238|The debit of a quote leaves out the platform's fee.
no-refund-of-pulled|245|A failed payment that was pulled from a bank account is not refunded.
one-code-both-channels|262|Who confirms one channel has confirmed the other one too.
completed-expires|271|A completed reset expires at the end of its window.
short-decline-untold|282|A purchase that is declined for lack of money is told to nobody.
void-counted-twice|283|The money of a voided purchase is available again, and still counted as held.
second-return-sum|286|The row of a second return has the sum of both as its settledAmount.
deleted-looked-up|298|A deleted external account can still be looked up.
no-resend|313|A second one-time code for a channel is refused.
owner-document-moved|318|The document of a beneficial owner becomes one of the customer.
platform-list-of-customers|361|The platform's list has accounts of customers.
verify-later|366|The proof by a signature is answered before it is decided.
receiving-lock-drifts|378|A receiving amount that is locked is converted there and back.
amount-as-text|379|A locked amount may be a string of digits.
override-in-usdc|384|A platform fee is taken from a quote that sends USDC.
transfer-on-top|399|The fee of a deprecated transfer comes on top of its amount.
no-challenge-for-business|423|A business in an SCA region executes quotes without a challenge.
authorized-untold|432|No event tells of PROCESSING after an authorization.
refund-balance-untold|435|The balance that a refund changes is told to nobody.
inactive-untold|438|An external account that becomes INACTIVE is told to nobody.
late-funds-unprocessable|451|INSUFFICIENT_FUNDS has the status 422 at the execution of a quote.
conflict-message|447|A conflict has a message in the place of its reason.
claimed-as-cancelled|453|An invitation that was claimed before is refused as a cancelled one.
own-rejection-reason|459|A document without color is rejected for a reason that is not listed.
business-without-terms|479|A quote of a business does not ask for the acceptance of the terms.
old-tax-return|489|A tax return of more than three months ago proves an address.
resets-per-factor|491|The resets of a day are counted for each factor.
limit-only-sending|495|A locked receiving amount is not held to the limit of one transaction.
long-rand-refused|499|An account number of 13 digits is refused for ZAR.
refund-told-refunded|509|A refund on its own row is told as CARD_TRANSACTION.REFUNDED.
ticker-lower-case|35|A quote shows the code of a crypto currency that it pays out in lower case.
lookup-symbol-of-sender|37|A lookup shows the receiving currency with the symbol of the sending one.
type-by-default|47|A customer without a customerType becomes an individual.
shared-platform-id|48|A second customer with the same platformCustomerId is refused.
region-from-address|49|The country of a new customer's address takes the place of its region.
currencies-appended|50|The currencies of a change are added to those from before.
birth-date-with-time|52|A birthDate that is changed has a time behind it.
nationality-of-any-kind|53|A change takes any text for a nationality.
business-phone-stays|55|A changed phoneNumber of a business is not kept.
identifier-not-missed|56|A US individual submits an idType without its identifier.
channels-left-out|61|The answer to a change leaves contactVerification out.
wealth-other-free|62|OTHER among the sources of wealth needs no description.
frozen-as-suspended|77|A frozen account is shown as SUSPENDED.
instructions-of-holder|80|A rule-based account shows how to fund its holder's other account.
label-cut|83|A label is cut after 128 characters.
coin-instruction-untyped|90|The instruction to pay a quote in a crypto currency has no accountType.
bare-id-in-events|96|Events name an external account by an id without its type.
list-without-own-id|100|The list of a customer's external accounts leaves platformAccountId out.
disabled-after-quote|103|An external account that was disabled after the quote is still paid.
benin-eight-only|125|A phone number of Benin with nine digits is refused.
bolt12-as-invoice|127|A bolt12 offer is shown as an invoice.
tax-id-as-registration|137|The taxId of a business beneficiary is shown as its registrationNumber.
passport-refused|138|A beneficiary whose documentType is PP is refused.
tax-id-for-europe|151|A business that is paid in EUR needs a taxId besides its registrationNumber.
names-swapped|155|Discoveries have bankName and displayName the other way round.
mandatory-as-text|163|A lookup tells as a text whether a payer field is mandatory.
bounds-not-converted|167|The sending bounds of a lookup are amounts of the receiving currency.
fees-unshown-at-home|180|The fee members of a quote within one currency are null.
challenge-expiry-in-seconds|189|The expiresAt of a quote's challenge is a number of seconds.
received-in-sending-currency|193|The receivedAmount of a transaction names the sending currency.
constraint-as-text|209|The constraint of an invalid field is the bare name of its format.
stale-account-event|228|The event of a proven ownership shows the account as it was before.
false-executes|237|A quote whose immediatelyExecute is false is executed at once.
refused-execution-reopens|239|A repeated execution is refused, and takes the challenge away.
immediate-answer-stale|242|The answer to an immediate execution shows the quote as it was before.
internal-completion-untold|244|No event tells that a payment to an internal account is completed.
hosted-untold|254|A review that begins by the hosted flow is told to nobody.
passed-too-early|270|A liveness that passes before its submission was seen is not noted.
enrollment-of-sms|275|A completed reset of SMS_OTP has an enrollmentStatus.
part-return-untold|281|Only a return of the whole purchase fires CARD_TRANSACTION.SETTLED again.
silent-counterparty-400|298|A lookup whose counterparty does not answer is refused with 400.
generated-id-answered|308|The answer to a creation has another platformCustomerId than is kept.
change-drops-contacts|309|A change that does not name the email of a customer takes it away.
old-terms-told|311|The version that is told of the terms is no longer the current one.
email-answered-verified|314|A confirmed email is VERIFIED in the answer, and PENDING when read.
phone-verifies-email|316|The code of the phone verifies the email.
longest-key-refused|347|An Idempotency-Key of 255 characters is refused.
only-active-listed|360|The list of a customer's external accounts has the ACTIVE ones alone.
platform-list-named-only|361|The platform's list leaves out accounts without a platformAccountId.
challenged-is-active|365|The start of an ownership verification makes the account ACTIVE.
failed-signature-open|366|A wrong signature leaves the verification of an ownership open.
deleted-before-confirm|368|A trusted beneficiary is deleted once its untrust is asked for.
realtime-at-once|380|A just-in-time quote is executed at once, before anything was paid.
override-kept|384|The platform fee of one quote becomes the standing one.
session-as-unauthorized|388|SCA_SESSION_REQUIRED has the status 401.
transfer-left-pending|399|A deprecated transfer is not executed.
mobile-always|411|A reset of any factor completes only with a mobile number.
wrapped-card-event|428|The data of a card event has the transaction under a name of its own.
failed-event-of-quote|432|OUTGOING_PAYMENT.FAILED has the quote as its data.
gateway-refusal-as-text|3|A request without credentials is refused with a page in the place of JSON.
lightning-unpayable|10|A quote to a Lightning account is refused.
lookup-empty-mobile|12|The lookup of a mobile-money account names no currency.
no-link-for-business|13|A business gets no hosted link.
received-without-symbol|37|The receivedAmount of a transaction has a currency without a symbol.
single-word-rename|51|A single word passes as a full name that is changed, at the submission too.
birth-date-unpadded|52|The birthDate of a customer that is read has no leading zeros.
identifier-kept|57|A change of idType and identifier keeps the identifier from before.
tax-id-unchecked-later|65|A changed taxId is not held to its country.
failed-as-pending|77|An account that could not be provided is still shown as PENDING.
privacy-flag-on-crypto|85|An INTERNAL_CRYPTO account has the privacy flag of wallets.
card-funding-once|86|An account with a card does not say any more that it can fund one.
platform-list-bare-ids|96|The platform's list of external accounts has ids without their type.
slv-as-colon|99|An SLV_ACCOUNT is shown with SVC as its currency.
wallet-type-left-out|101|A customer's list of external accounts has no accountType for wallets.
reviewed-receives|103|An external account that is UNDER_REVIEW is paid.
rand-zeros-lost|119|An account number for ZAR loses its leading zeros.
emirates-swift-demanded|121|An account in AED needs a swiftCode.
ivory-coast-nine|125|A phone number of the Ivory Coast has to have nine digits.
beneficiary-date-free|136|The birthDate of a beneficiary may be any text.
document-members-swapped|138|A beneficiary's documentType and documentNumber are answered swapped.
dollar-legal-name-optional|146|A business that is paid in USD needs no legalName.
newest-bank-refused|155|The last institution that discoveries name for PHP is refused.
fixed-fee-unshown|180|platformFeesIncluded leaves out the fixed amount of the platform's fee.
fixed-fee-misnamed|185|rateDetails has gridApiFixedFee under another name.
owner-share-rounded|200|An ownershipPercentage is cut to a whole number.
authorize-answer-stale|240|The answer to the last proof shows the quote as waiting for it.
just-in-time-never-expires|241|The transaction of a just-in-time quote does not expire.
coin-payment-ignored|243|A just-in-time quote in a crypto currency is not executed by its payment.
reason-lost-with-refund|245|The failureReason is taken away when the refund begins.
rejection-untold|256|The rejection of an individual is told to nobody.
rename-approves|258|A rejected customer who is renamed is approved.
passed-never-expires|273|A reset whose liveness has passed does not expire.
declined-amount-settled|282|A declined purchase shows its amount as settled.
lookup-needs-customer|297|A lookup with a senderUmaAddress alone is refused.
terms-as-customer|311|The path of the terms is taken for that of a customer, who is not found.
resent-code-refused|313|A code that was sent again is refused.
change-unverifies|314|A change of anything else makes a verified channel PENDING again.
phone-after-email|316|The phone can be verified only after the email.
resubmission-answers-old|319|A second submission is answered with the first one, and its errors.
business-without-info|326|A business without any businessInfo is created.
lease-refused|327|A RENT_OR_LEASE_AGREEMENT is no known type of document.
branding-drops-fees|335|A change of cardTokenization2faConfig takes the standing fee away.
filter-shows-customers|342|The platform's list by currency has accounts of customers.
rule-based-as-fiat|343|A rule-based account is listed as INTERNAL_FIAT.
key-per-customer|350|A key that was used for another customer makes a second account.
sweep-credits-both|351|A sweep credits the holder's account beside its destination.
list-with-platform-accounts|360|A customer's list of external accounts has those of the platform.
platform-list-one-per-currency|361|The platform's list has one external account of each currency.
deleted-still-listed|363|A deleted external account is still in the list.
proof-for-all|366|The proof of one account makes the others of its customer ACTIVE too.
platform-fee-on-top|378|The platform's fee comes on top of a locked sending amount.
purpose-refused|383|A quote with a purposeOfPayment is refused.
approved-twice|395|An approved transaction is approved again, and paid again.
reset-read-without-customer|403|A reset is read without a customerId.
reset-factor-of-newest|408|A reset is shown with the factor of the customer's newest one.
reset-completion-200|409|The completion of a reset answers 200 with a body.
operations-of-all-coins|415|The operations of a stablecoin are listed with those of the others.
failed-recall-told-completed|434|A failed refund of a deposit is told as REFUND_COMPLETED.
discoveries-sent-as-text|3|Discoveries are answered as text/plain.
execution-recounts-fee|11|An execution prices its quote again by the standing fee of then.
pending-pulls|21|A customer under review pays with what is pulled from a bank account.
balance-event-in-major-units|26|INTERNAL_ACCOUNT.BALANCE_UPDATED tells the balance in whole units.
business-needs-currencies|47|A business without currencies is refused.
channels-by-incorporation|49|The contact channels of a business follow its country of incorporation.
currencies-fixed-by-approval|50|Changed currencies of an approved customer are not kept.
european-business-phone-unasked|55|A business in the EU submits without a phoneNumber.
changed-business-with-kyc-status|60|A changed business is answered with kycStatus for kybStatus.
verified-channel-left-out|61|A customer that is read has no channel that was verified.
sending-fields-unasked|67|A quote asks for the required members of the receiving currency alone.
closed-as-inactive|77|A closed account is shown as INACTIVE.
platform-list-total-balance|78|The platform's list has the total balance as the balance.
hosted-approval-without-accounts|88|A customer who is approved by the hosted flow gets no accounts.
pix-random-as-evp|111|A pixKeyType RANDOM is shown as EVP.
given-swift-overwritten|114|A swiftCode that is given gives way to what the IBAN says.
ivory-coast-old-numbers|125|A phone number of the Ivory Coast with eight digits is taken.
beneficiary-birth-with-time|136|The birthDate of a beneficiary has a time behind it.
nested-tax-id-unseen|137|A taxId under businessInfo of a beneficiary does not count.
philippine-address-demanded|140|An individual who is paid in PHP needs an address.
platform-payees-unchecked|146|A business beneficiary of a platform's account needs nothing.
registration-asked-of-individuals|148|A business that an individual pays needs a registrationNumber.
lookup-bare-account-id|165|A lookup tells the accountId without its type.
execution-echoes-rail|176|The answer to an execution echoes the payment rail.
challenged-without-transaction|181|An execution that asks for a proof has no transactionId.
bitcoin-instructions-bare|183|The paymentInstructions of a quote that BTC pays are no list.
beneficiary-faults-later|209|Faults of a beneficiary are told once the account has none.
failed-account-receives|220|An account that could not be provided is paid.
frozen-while-authorizing|222|An account that was frozen before the proof still pays.
liveness-is-reviewed|228|An ownership that is proven by a liveness check is UNDER_REVIEW.
funds-checked-at-creation-only|238|Two quotes over the same money are both executed.
authorized-not-debited|240|A quote that was authorized does not debit its source.
refund-event-old-refund|246|OUTGOING_PAYMENT.REFUND_COMPLETED shows the refund as PENDING.
legal-name-reopens|258|A business whose legalName changes is under review again.
sms-reset-completes-itself|270|A reset of SMS_OTP is COMPLETED as soon as its liveness passes.
declined-told-authorized-first|282|A declined purchase is told as authorized before.
lookup-bounds-in-dollars|297|The sending bounds of a lookup are dollars, whatever is asked.
business-link-no-redirect|324|The kycUrl of a business leaves out the redirectUri.
quarter-owner-unchecked|328|An owner of exactly 25 % has to tell nothing.
change-forgets-consent|329|A change that does not name the accepted terms takes them away.
crypto-without-required-fields|334|Crypto currencies have no providerRequiredCustomerFields.
label-counted-in-bytes|348|A label of 255 letters with accents is refused.
creation-without-own-id|359|The answer to the creation of an account leaves platformAccountId out.
list-joins-beneficiaries|360|The list of a customer leaves out accounts that have no beneficiary.
confirmed-untrust-forgotten|364|A confirmed untrust leaves the trust.
unknown-payer-taken|376|A just-in-time quote of an unknown customer becomes one of the platform.
immediate-needs-rail|377|A quote that is executed at once needs a paymentRail.
override-by-receiving-dollars|384|A platform fee is taken from a quote that only receives USD.
expired-asks-for-proof|386|An expired quote of a customer with SCA is answered with a challenge.
lock-as-conflict|388|ACCOUNT_LOCKED has the status 409.
card-filter-by-whole-id|394|A card is not found by its bare UUID.
approved-without-agent|395|A transaction that no agent initiated is approved, and paid.
reset-completed-without-customer|403|A reset is completed without a customerId.
completed-at-reading|408|The completedAt of a reset is the time at which it is read.
return-reversed-twice|415|A return is reversed again, below a refundedAmount of zero.
link-key-across-customers|421|A key of one customer's hosted link gives that link to another one.
wallet-unsigned-inside|422|An embedded wallet pays an internal account without a signature.
account-events-epoch-timestamp|428|The timestamp of events of internal accounts is a number.
debit-event-old-balance|435|The event of a debit shows the balance from before.
first-provider-link-taken|463|The first of several provider links is taken.
request-id-missing-400|469|REQUEST_ID_MISSING has the status 400.
link-key-unlimited|485|A hosted link takes an Idempotency-Key of any length.
owner-as-control-person|490|A business with an owner of 25 % needs no control person.
just-in-time-lives-a-day|493|A just-in-time quote lives for a day.
void-told-as-reversed|509|A voided purchase is told as CARD_TRANSACTION.REVERSED.
upload-answer-as-html|3|The record of an uploaded document is answered as text/html.
platform-funding-refused|7|A just-in-time quote of the platform itself is refused.
reset-individuals-only|14|A business in an SCA region cannot reset a lost factor.
zero-as-two-decimals|26|What is received in a currency without decimals is counted in hundredths.
second-nameless-refused|47|A second individual without a fullName is refused.
business-without-contacts|55|A business in the EU needs neither email nor phoneNumber.
identifier-without-hyphens|57|A new identifier loses its hyphens, for which changes are refused.
platform-coins-as-fiat|76|The platform's list shows crypto accounts as INTERNAL_FIAT.
listed-with-held|78|The list of a customer's accounts has held money in the balance.
rule-based-ownerless|82|A new rule-based account is answered with an empty customerId.
listed-as-pending|98|A list shows an account as PENDING whose ownership is to be proven.
canadian-zeros-lost|120|The bankCode and branchCode of a CAD account lose their leading zeros.
taka-wallet-nameless|123|Mobile money in BDT needs no bankName.
platform-wallet-any-asset|126|A wallet of the platform may have any asset on any network.
rwandan-provider-free|129|Any name passes for a mobile operator of RWF.
second-lookup-without-id|164|The second lookup of an account has no lookupId.
lookup-names-own-id|165|A lookup shows the platformAccountId of an account as its accountId.
instructions-never|183|Payment instructions stay hidden after the challenge is satisfied.
owner-papers-unnamed|199|An owner without an identity document is not told which ones are accepted.
provided-cannot-send|219|An account that was PENDING cannot send when it is ACTIVE.
closed-swept-into|221|A sweep credits a closed account.
platform-proof-untold|228|The proven ownership of an account of the platform is told to nobody.
status-of-first-read|231|An external account is shown with the status of its first reading.
wrong-proof-reopens|239|After a wrong proof a quote can be executed again.
right-after-wrong-refused|240|After a wrong proof the right one is refused.
expires-on-attempt|241|The transaction of an expired quote expires only when its execution is tried.
receiving-not-at-once|242|A quote that locks the receiving amount is not executed at once.
platform-not-refunded|246|A failed payment of the platform is not refunded.
resubmission-untold|254|A review that begins after a submission with errors is told to nobody.
failed-too-early|272|A liveness that fails before its submission was seen is not noted.
void-untold|283|A voided purchase is told to nobody.
second-return-chained|286|The row of a second return points to that of the first.
platform-account-not-looked-up|298|A lookup for a customer finds no account of the platform.
no-resend-after-guess|313|After a wrong code no other one is sent.
late-guess-unverifies|314|A wrong code makes a verified channel PENDING again.
phone-needless-after-email|315|No code is sent to the phone when the email is verified.
owner-replaced|317|A beneficial owner takes the place of one with the same roles.
link-after-email|325|A hosted link is given once the email is verified, before the phone is.
config-empty-left-out|334|A currency that requires nothing has no providerRequiredCustomerFields.
rate-without-fixed|335|A standing fee with a rate and a fixed amount takes the rate alone.
filter-without-coins|342|The platform's list by a crypto currency is empty.
first-list-kept|360|A customer's list leaves out accounts that are newer than its first reading.
deleted-readable|362|A deleted external account is read as INACTIVE.
home-lock-ignored|378|Within one currency the locked amount is always the one that is sent.
purpose-crashes|383|A purposeOfPayment that is no text ends in an internal error.
override-lost-receiving|384|A platformFeeOverride is lost when the receiving amount is locked.
unasked-proof-executes|388|An authorization that nobody asked for executes the quote.
card-id-with-status|394|A status is combined with the type CARD when a cardId is there.
transfers-unlisted|399|Deprecated transfers are not in the list of transactions.
terms-without-credentials|419|The terms are told without credentials.
agent-lists-others|420|An agent lists the transactions of a customer whom it names.
key-cut|421|Two keys that agree in 64 characters are taken for the same one.
transfer-unasked|423|A deprecated transfer needs no strong authentication.
second-status-untold|438|Only the first change of an external account's status is told.
refund-told-of-purchase|439|The event of a refund on its own row shows the purchase.
unconfigured-not-found|453|An invitation where none are configured is refused as not found.
malformed-uma-not-found|455|A malformed UMA address is refused with UMA_NOT_FOUND.
no-rate-as-failed|457|A corridor without a rate is refused with QUOTE_REQUEST_FAILED.
just-in-time-without-terms|479|A just-in-time quote does not ask for the acceptance of the terms.
large-image|488|Images of any size are taken.
ended-resets-uncounted|491|Resets that have ended do not count among the five of a day.
enabled-for-holders|497|Who has a rule-based account gets another one where they are not enabled.
naira-number-letters|499|An account number for NGN may have letters.
platform-payee-refused|10|An external account of the platform is no destination of a quote.
lookup-at-home-empty|12|A lookup that is priced in the account's own currency names no currencies.
burns-unlisted|15|Burns are not among the operations of a stablecoin.
business-platform-id-null|48|A business without a platformCustomerId gets none.
currencies-without-crypto|50|The crypto currencies of a customer are not kept.
kyb-declined|60|A rejected business is read with the kybStatus DECLINED.
incorporated-on-any|65|The incorporatedOn of a business may have any form.
rule-based-type-in-events|76|Events say that a rule-based account is INTERNAL_FIAT.
wallet-instructions-no-list|80|The fundingPaymentInstructions of an embedded wallet are one object.
platform-coins-owned|82|The platform's crypto accounts are listed with an owner.
review-under-another-name|98|UNDER_REVIEW is read as PENDING_REVIEW.
us-four-digits-refused|109|An account number of four digits is refused for USD.
pix-type-free|111|Any text passes for a pixKeyType.
upi-needs-bank|117|A UPI account needs a bankName.
plasma-usdc|126|A PLASMA_WALLET takes USDC.
document-zeros-lost|138|The documentNumber of a beneficiary loses its leading zeros.
euro-address-optional|140|An individual who is paid in EUR needs no address.
slv-business-unchecked|146|A business beneficiary of an SLV_ACCOUNT needs nothing.
authorized-new-transaction|181|An authorized quote has another transactionId.
fee-in-receiving-currency|187|The feesIncluded of a quote are an amount of the receiving currency.
second-challenge-no-factors|189|The second challenge of a quote has no availableFactors.
incoming-as-debit|193|An incoming transaction has the direction DEBIT.
field-without-path|209|An invalid nested member is told by its last name alone.
failed-proof-untold|229|A failed proof of ownership is told to nobody.
failed-liveness-open|229|A failed liveness check leaves the ownership verification open.
pull-not-executable|238|A quote from a pullable source can only be executed at once.
again-at-second-challenge|239|While the second proof is awaited, execute is answered without 409.
between-proofs-pending|240|Between two proofs a quote is PENDING.
immediate-pull-waits|242|A quote that pulls its money is PENDING in spite of immediatelyExecute.
completed-event-stale|244|OUTGOING_PAYMENT.COMPLETED shows the transaction as PROCESSING.
failed-event-without-reason|245|OUTGOING_PAYMENT.FAILED has no failureReason.
rename-rejects|258|An approved individual renamed to a name that ends in a rejection is rejected.
failed-after-pass-ignored|272|A liveness that fails after it had passed is not noted.
completed-then-rejected|272|A completed reset becomes REJECTED by a late result.
void-event-stale|283|CARD_TRANSACTION.VOIDED shows the purchase as authorized.
refund-row-debit|286|The row of a standalone return has the direction DEBIT.
created-business-bare|308|The answer to the creation of a business has no businessInfo.
decision-not-polled|310|A customer who was read while PENDING stays PENDING in later readings.
business-email-pending|314|The confirmed email of a business stays PENDING.
phone-verified-by-sending|315|Sending the code to a phone verifies it.
phone-any-code|316|Any one-time code verifies a phone.
owner-first-role|317|Only the first role of a beneficial owner is kept.
back-as-front|318|The BACK of a document is recorded as its FRONT.
verifications-of-others|320|The list of verifications has those of other customers.
link-on-second-ask|325|A hosted link is given at the second ask, with unverified channels.
licence-front-enough|327|A DRIVERS_LICENSE is complete with its front alone.
two-without-errors|330|A business whose registrationNumber ends in 002 reports no errors first.
sweep-rule-optional|348|A rule-based account is made without a sweepRule.
platform-list-deleted|361|A deleted external account stays in the platform's list.
challenged-is-reviewed|365|The start of an ownership verification makes the account UNDER_REVIEW.
late-wrong-proof|366|A wrong signature makes an account UNVERIFIED that was proven before.
refused-deletion-disables|368|A refused deletion makes the trusted account INACTIVE.
uma-receiving-refused|377|A UMA_ADDRESS destination is refused when the receiving amount is locked.
unpullable-at-once|380|A quote at once takes an external account without pull as its source.
next-page-unfiltered|394|The second page of a filtered list of transactions forgets the filter.
outside-read-not-found|403|Outside of the SCA regions a reset that is read is 404, not 409.
completed-at-never|408|A completed reset has no completedAt.
completion-without-address|409|A reset is completed without an endUserIpAddress.
agent-reads-platform|420|An agent reads the platform's internal accounts.
key-case-folded|421|Two keys that differ in case alone are taken for the same one.
refund-event-without-refund|433|The data of OUTGOING_PAYMENT.REFUND_COMPLETED has no refund.
incoming-credit-untold|435|The balance that a transfer within the service credits is told to nobody.
kyb-event-old-status|437|CUSTOMER.KYB_APPROVED shows the business as PENDING.
rejection-in-lower-case|459|The reason of a document rejection is told in lower case.
burn-fraction-cut|463|A burnt amount that cannot be represented is cut.
key-conflict-422|471|A key that is reused for another account is refused with 422.
consent-by-change-unseen|479|An acceptance of the terms that comes by a change lets no quote pass.
label-256|486|A label of 256 characters is taken.
remittance-just-in-time|487|A just-in-time quote takes a remittanceInformation of any length.
control-person-of-anyone|490|The control person of one business counts for every business.
declined-as-failed|509|A declined purchase has the status FAILED.
rejected-paper-counts|327|A document that is rejected still counts for the submission of its holder.
standing-fee-not-just-in-time|335|The standing platform fee is not taken from just-in-time quotes.
platform-quote-lasts|241|A quote of the platform itself does not expire.
failure-rejects-all|272|A failed liveness rejects every open reset of the customer.
completed-in-review|269|A reset completes while its liveness is under review.
approved-from-frozen|222|A payment of an agent is approved from an account that was frozen since.
second-decline-untold|282|Only the first declined purchase of a card is told.
second-number-shared|343|A customer's second rule-based account has the number of the first.
proven-still-limited|228|An account keeps the limit of unproven ones after its ownership is proven.
pending-event-unverified|254|CUSTOMER.KYC_PENDING shows the customer as UNVERIFIED.
coin-debit-in-cents|238|The debit of a crypto account is cut to whole hundredths.
unverified-receives|229|An external account that is UNVERIFIED is paid.
suffix-of-creation|330|The registrationNumber of the creation decides, though a change replaced it.
listed-first-error|320|A verification that is listed has only the first of its errors.
email-verified-by-address|314|A confirmed email is VERIFIED for every customer who has it.
change-answer-old-business|309|The answer to a change shows businessInfo as it was before.
business-rejection-untold|256|The rejection of a business is told to nobody.
filtered-list-cached|342|The platform's list by currency shows the balances of its first reading.
return-row-without-card|286|The row of a return is not listed under its card.
twin-quotes-one-transaction|237|Two quotes with equal bodies have one transactionId.
business-early-link|325|A business gets a hosted link before its contact channels are verified.
back-replaces-front|318|The BACK of a document takes the place of its FRONT.
approved-business-bare|310|A business that is approved is read without its businessInfo.
second-return-untold|281|Only the first return of a purchase fires CARD_TRANSACTION.SETTLED again.
earlier-link-dies|324|A new hosted link invalidates the earlier ones.
creation-without-channels|308|The answer to a new customer leaves contactVerification out.
phone-resets-email|316|A confirmed phone makes the verified email PENDING again.
owner-issuance-from-nationality|317|The countryOfIssuance of an owner becomes its nationality.
business-country-defaulted|326|A business without a country becomes one of the US.
second-owner-unchecked|319|What a second beneficial owner lacks is not told.
one-code-slot|313|A code that is sent to one channel voids that of the other one.
business-phone-needless|315|No code is sent to the phone of a business.
address-faults-as-one|209|Several invalid members of an address are told as the address alone.
discovery-first-country|302|A discovery names the first country of its currency.
immediate-not-refunded|245|A failed payment that was executed at once is not refunded.
proof-opens-others|239|After one proof the other quotes of the customer need none.
expired-filed-as-pending|241|A transaction that expired is found among the PENDING ones alone.
second-void-untold|283|Only the first voided purchase of a card is told.
frozen-transfers|222|A deprecated transfer pays from a frozen account.
failed-refund-credited|246|A refund that fails is credited all the same.
standing-fee-not-pulled|335|The standing fee is not taken from what is pulled from a bank account.
business-reset-stays|271|The reset of a business is not COMPLETED by its completion.
document-country-of-holder|318|The country of a document becomes that of its holder.
frozen-coins-sent|222|A frozen account in a crypto currency still pays.
change-drops-diligence|309|A change takes the sources of funds away that it does not name.
business-any-code|314|Any one-time code verifies a channel of a business.
business-change-unverifies|314|A change of a business makes its verified channels PENDING again.
platform-list-old-status|228|The platform's list shows an external account at its first status.
proven-without-own-id|228|A proven account is read without its platformAccountId.
completed-reset-without-factor|271|A completed reset does not show its factor.
other-factor-enrolls|275|Whatever factor is enrolled ends the wait of every reset.
business-country-from-region|308|The country of a new business becomes its region.
conversion-credited-as-sent|238|A conversion between accounts of one customer credits what was sent.
coin-completion-untold|244|No event tells that a payment to a crypto wallet is completed.
coin-payout-not-refunded|245|A failed payment to a crypto wallet is not refunded.
cross-quote-stays-pending|241|The transaction of an expired quote between currencies stays pending.
cross-refund-of-received|246|A refund between currencies credits what would have been received.
standing-fee-not-to-coins|335|The standing fee is not taken where a crypto currency is received.
cross-at-once-waits|242|A quote between currencies is PENDING in spite of immediatelyExecute.
cross-realtime-ignored|243|A payment does not execute a just-in-time quote between currencies.
business-address-stays|309|A changed address of a business is not kept.
business-currencies-stay|309|Changed currencies of a business are not kept.
coin-failure-untold|245|No event tells that a payment to a crypto wallet has failed.
key-forgotten-after-another|350|A key is forgotten when another one was used.
own-id-as-number|359|A platformAccountId of digits alone is answered as a number.
refused-deletion-untrusts|368|The refused deletion of a trusted beneficiary takes the trust away.
payment-executes-first|376|What pays a customer's second just-in-time quote executes the first.
last-rail-refused|377|The last payment rail that an account lists is refused.
locked-coins-in-cents|379|A locked receiving amount of crypto is read as hundredths of a coin.
immediate-uma-waits|380|A quote to a UMA address is PENDING in spite of immediatelyExecute.
second-attempt-executes|386|The second execution of an expired quote executes it.
approval-of-oldest|395|The approval of an agent's second transaction approves the first one.
early-completion-rejects|411|A completion before liveness has passed makes the reset REJECTED.
reversal-clears-refunded|415|The reversal of one of two returns takes refundedAmount to zero.
pull-unasked|423|What is pulled from a bank account of a customer needs no strong authentication.
event-by-platform-id|436|A decision is told of the first customer with its platformCustomerId.
last-clearing-untold|439|The last clearing of a purchase that was partly settled is told to nobody.
sender-refused-at-quote|455|SENDER_NOT_ACCEPTED has the status 424 when a quote is made.
refused-rate-debits|457|An execution whose rate is refused debits the source all the same.
unknown-quote-authorized|470|To authorize a quote that is not there is refused with 409.
needless-phone-unprocessable|471|The code of a phone that needs no verification is refused with 422.
email-sync-as-sms|475|A failed synchronization of EMAIL_OTP has the code of SMS_OTP.
link-key-uuid-only|485|A hosted link takes only a UUID as its Idempotency-Key.
png-proof-refused|488|A PNG is refused as a proof of address.
control-person-needs-share|490|A control person who owns nothing does not count.
session-six-months|492|A session ends after six months of the calendar.
slow-rail-hour|493|A quote that names the rail ACH or WIRE lives for an hour.
limit-forgotten-at-once|495|What is executed at once is not held to the limit of one transaction.
volume-free-at-home|496|A transfer within one currency is not held to the daily volume.
transfer-in-uncredited|508|A deprecated transfer in completes, and its account gets nothing.
disabled-are-hidden|341|Rule-based accounts are not listed once they are switched off.
conversion-without-terms|479|A quote between two currencies does not ask for accepted terms.
proof-of-oldest|366|A signature proves the customer's oldest account that waits for a proof.
filters-by-either|394|The filters by type and status together list what fits either.
owner-proof-of-any-age|489|An outdated proof of address of a beneficial owner is taken.
cap-on-reading|476|Who has started too many resets cannot read one either.
cap-clears-count|491|After a sixth reset was refused, five others can be started.
business-funding-refused|376|A just-in-time quote of a business is refused.
business-approval-refused|395|What an agent of a business initiated cannot be approved.
external-mint-untracked|415|A mint to an external account is not among the operations.
agent-reads-verifications|420|An agent reads the verifications of other customers.
address-untold|432|A payment to a UMA address is told to nobody.
business-account-untold|438|A changed status of a business's account is told to nobody.
self-payment-at-once|451|An account pays itself where a quote is executed at once.
unknown-customer-link|470|A hosted link for a customer who is not there is refused with 400.
owner-pdf-refused|488|A PDF is refused as a document of a beneficial owner.
business-transfer-refused|508|A deprecated transfer of a business is refused.
business-untrust-refused|364|The trust of a business in a beneficiary cannot be taken away.
home-fee-on-net|187|Within one currency the fee is a fraction of a locked receiving amount.
canadian-number-padded|120|The accountNumber of a CAD account is shown filled up to twelve digits.
immediate-other-transaction|181|A quote that is executed at once shows the id of no transaction.
lightning-offer-beside-address|127|A bolt12 offer is taken beside a lightningAddress.
business-currencies-unread|50|The currencies of a business are not shown when it is read.
review-events-without-channels|61|Events of a customer leave contactVerification out.
holder-shows-sweep-rule|84|The account of a holder shows the sweepRule of its rule-based account.
lookup-network-in-code|35|A lookup of a wallet names its network beside the code of the currency.
change-shifts-birth-date|52|A change of anything else sets the birthDate of a customer a day back.
one-country-of-operation|65|Of the countriesOfOperation of a business only the first one is kept.
listed-beneficiary-individual|135|A list shows every beneficiary as an INDIVIDUAL.
no-label-as-empty|83|A rule-based account without a label shows an empty text as its label.
region-change-answered|49|A changed region is answered, and not kept.
platform-account-other-type|96|An external account of the platform has another type in its id.
philippine-bank-of-elsewhere|115|A PHP account takes the name of an institution of another country.
received-name-of-sender|36|The receivedAmount of a transaction has the name of the sending currency.
taka-branch-dropped|123|The branchCode of a BDT account is not kept.
immediate-challenge-no-purpose|189|The challenge of a quote that is executed at once has no purpose.
brazilian-birth-date-demanded|140|An individual who is paid in BRL needs a birthDate.
incoming-amounts-as-text|40|The amounts of an incoming transaction are texts.
listed-errors-without-field|199|The errors of a verification that is read do not name the field.
held-business-as-pending|60|A business on HOLD is read as PENDING.
platform-disabled-as-active|98|The platform's list shows an INACTIVE account as ACTIVE.
lookup-min-zero|167|The lookup of an account whose currency has no decimals has a min of 0.
changed-business-answer-old|58|The answer to a change of a business has its old businessInfo.
owner-issuance-dropped|200|The countryOfIssuance of a beneficial owner is not kept.
events-of-first-name|51|Events of a customer show the fullName from its creation.
home-rate-with-fee|179|Within one currency a locked receiving amount has the fee in its rate.
executed-without-fees|180|The answer to an execution shows fees of 0.
description-escaped|182|An ampersand in the description of a quote is shown as an entity.
names-without-accents|51|The fullName of an individual loses its accents.
owner-of-first-business|200|A beneficial owner shows the customerId of the first business.
national-id-as-passport|201|A NATIONAL_ID is recorded as a PASSPORT.
second-currency-unchecked|50|Only the first of a customer's currencies has to be one.
second-category-dropped|62|Of several categories of a source the first one is kept.
required-fields-of-creation|67|A required member that comes by a change lets no quote pass.
wallet-address-lower|126|The address of a wallet is kept in lower case.
executed-currencies-swapped|177|The answer to an execution has the two currencies swapped.
link-expiry-without-zone|27|The expiresAt of a hosted link has no time zone.
listed-rule-based-ownerless|82|A rule-based account is listed with an empty customerId.
shared-platform-id-numbered|48|The second customer with a platformCustomerId gets it with a number.
change-renews-platform-id|48|A change takes the generated platformCustomerId away for another one.
json-charset-refused|3|A JSON body whose Content-Type names its charset is refused.
executed-expires-now|11|The execution of a quote moves its expiresAt to the time of the execution.
approved-payment-untold|16|No event tells of a payment of an agent that was approved.
pending-business-just-in-time|21|A business under review pays with a just-in-time quote.
phone-demands-email|47|A customer with a phoneNumber and without an email is refused.
business-region-as-country|49|A business is read with its country of incorporation as its region.
nationality-stays|53|A changed nationality is not kept.
contacts-of-creation|55|A contact that comes by a change is still missed at the submission.
business-event-bare|58|Events of a business leave its businessInfo out.
pending-event-in-balance|78|The event of a pending deposit has it in the balance.
platform-list-in-dollars|99|The platform's list shows every external account in USD.
beneficiary-type-any|135|Any text passes for a beneficiaryType.
euro-full-name-for-legal|147|A business that is paid in EUR may tell a fullName for its legalName.
israeli-registration-forgotten|148|A business pays one in ILS that has no registrationNumber.
registration-zeros-lost|151|The registrationNumber of a beneficiary loses its leading zeros.
bank-name-as-label|155|A PHP account shows the displayName of its institution as the bankName.
lookup-cached-per-currency|165|A lookup of another account in one currency names the first.
authorized-answer-bare-id|173|The answer to an authorization has the quote's id without a type.
uma-quote-without-expiry|175|A quote to a UMA address has no expiresAt.
quote-coin-decimals|177|A quote shows crypto currencies with two decimals.
shown-fee-on-net|187|The feesIncluded of a locked receiving amount are a fraction of the net.
alike-errors-once|199|What several owners lack alike is told of one of them alone.
frozen-wallet-sends|222|A frozen embedded wallet still pays.
inactive-pulled|231|Money is pulled from an external account that is INACTIVE.
short-execution-ends-quote|238|An execution that is refused for lack of money ends the quote.
reviewed-completion-untold|244|No event tells that a payment that was reviewed is completed.
hosted-business-untold|254|No event tells that the hosted flow begins the review of a business.
business-address-abroad|54|The address of a business is read in its country of incorporation.
region-as-nationality|49|An individual is read with its nationality as its region.
number-for-iban|114|An accountNumber is taken in place of an iban.
number-for-clabe|110|An accountNumber is taken in place of a clabeNumber.
company-by-full-name|326|A business may have a fullName in place of its legalName.
name-of-creation|260|A fullName that comes by a change is still missed at the submission.
events-of-first-legal-name|437|Events of a business show the legalName from its creation.
inactive-transferred|231|A deprecated transfer pulls from an external account that is INACTIVE.
owner-nationality-of-place|200|An owner is shown with the country of its address as its nationality.
payee-nationality-of-place|136|The nationality of a beneficiary becomes the country of its address.
frozen-pays-address|222|A frozen account pays a UMA address.
sms-enrollment-pending|275|A reset of SMS_OTP is read with the enrollmentStatus PENDING.
return-untold|281|A return changes the refundedAmount of its purchase without any event.
void-as-declined|283|A purchase that is taken back before it is cleared ends as DECLINED.
lookup-rate-from-dollars|297|A lookup names the currency that is asked, and converts from dollars.
unknown-looked-up-400|298|The lookup of an account that is not there is refused with 400.
discoveries-any-currency|302|Institutions of a country are listed for each of its currencies.
change-drops-currencies|309|A change that does not name the currencies takes them away.
link-with-one-channel|325|A hosted link is given once any of the contact channels is verified.
needless-phone-sent|325|A code is sent to a phone that needs no verification.
passport-without-authority|327|A PASSPORT needs no issuingAuthority.
key-ignores-rule|350|A key that is used with another sweepRule answers with the first account.
retry-answered-201|350|A retry with the same key is answered with 201.
read-without-rails|368|A US account that is read has no paymentRails.
receiving-lock-pays-fee|378|Between currencies the fee is taken from a locked receiving amount.
remittance-of-80-refused|381|A remittanceInformation of 80 characters is refused.
expired-as-invalid|386|The execution of an expired quote is refused with INVALID_INPUT.
reset-started-outside|403|A customer outside of the SCA regions starts a reset.
early-completion-conflict|411|A completion before liveness has passed is refused with 409.
wrong-secret-forbidden|424|A wrong secret of a known token id is refused with 403.
debit-untold|435|The balance that the execution of a quote debits is told to nobody.
longest-label-refused|486|A label of 255 characters is refused.
override-in-any-currency|498|A platformFeeOverride is taken in any currency.
submission-moves-newest|269|A liveness that is submitted moves the customer's newest open reset on.
reviewed-never-expires|273|A reset whose liveness is under review does not expire.
rejected-blocks-next|275|After a rejected reset no other one of its factor is started.
voided-listed-as-authorized|283|A voided purchase is listed as AUTHORIZED.
sandbox-without-credentials|290|The sandbox needs no credentials.
address-lookup-dollars|297|A lookup for a senderUmaAddress is always priced against dollars.
read-first-contacts|310|A customer is read with the email and the phoneNumber of its creation.
terms-url-without-host|311|The URL of the terms has neither scheme nor host.
later-owner-unchecked|319|What an owner lacks who comes after the first submission is not told.
rule-based-in-usdc|348|A rule-based account is made for USDC, as if it were for USD.
created-as-active|359|The answer to the creation of an account that is PENDING says ACTIVE.
platform-list-own-currencies|361|The platform's list has only accounts in its own currencies.
internal-account-read|362|An internal account is read by the path of the external ones.
challenged-quote-202|372|A quote at once that needs a proof is answered with 202.
just-in-time-uma-refused|377|A just-in-time quote to a UMA address is refused.
wallet-at-once-waits|380|A quote from an embedded wallet is PENDING in spite of immediatelyExecute.
immediate-purpose-refused|383|A quote that is executed at once is refused with a purposeOfPayment.
next-page-other-cards|394|The second page of the transactions of a card has those of others.
completion-of-newest|409|The completion of one of two resets completes the newer one.
business-wallet-unsigned|422|The embedded wallet of a business pays without a signature.
just-in-time-completion-untold|432|No event tells that a just-in-time payment is completed.
return-event-old-amount|439|The event of a return shows refundedAmount as it was before.
any-terms-version-later|451|A change takes the acceptance of any version of the terms.
version-codes-crossed|472|A lookup is refused with 412 and NO_COMPATIBLE_UMA_VERSION.
owner-rejection-400|473|DOCUMENT_REJECTED has the status 400 for beneficial owners.
silent-at-quote-400|475|LNURLP_REQUEST_FAILED has the status 400 when a quote is made.
clearing-of-newest|281|A clearing settles the newest open purchase of a card.
void-of-newest|283|A reversal voids the newest open purchase of a card.
settled-event-old-amount|439|The event of a settlement shows settledAmount as it was before.
refund-event-without-amount|286|The event of a refund on its own row shows a settledAmount of zero.
proof-of-newest-quote|240|A proof executes the newest of the customer's quotes that wait for one.
untrust-of-newest|364|The confirmation of an untrust takes the trust in another beneficiary away.
sweep-by-newest-rule|351|What arrives is swept by the rule of the holder's newest account.
both-named-dollars|297|A lookup that names its sender twice is always priced against dollars.
business-lookup-dollars|297|A lookup of a business is always priced against dollars.
creation-answered-pending|308|A new customer who is UNVERIFIED is answered as PENDING.
change-answered-unverified|309|A change of a customer who is decided is answered with UNVERIFIED.
coin-transactions-unlisted|394|What sends a crypto currency is not in the list of transactions.
list-declared-currencies|360|A customer's list leaves out accounts in currencies not its own.
transaction-by-quote-id|395|A transaction is approved by the id of its quote.
waiting-just-in-time-202|372|A just-in-time quote that needs a proof is answered with 202.
pulled-at-once-202|372|A quote that pulls its money at once is answered with 202.
platform-quote-202|372|A quote from an account of the platform is answered with 202.
uma-quote-202|372|A quote to a UMA address is answered with 202.
pull-to-uma-refused|377|A quote from a pullable source to a UMA address is refused.
just-in-time-inside-refused|377|A just-in-time quote to an internal account is refused.
business-wallet-at-once-unsigned|422|The wallet of a business pays at once without a signature.
any-account-in-dollars|105|An account of any type may be in USD.
outdated-at-quote-400|472|UNSUPPORTED_UMA_VERSION has the status 400 when a quote is made.
recall-event-old-refund|434|INCOMING_PAYMENT.REFUND_COMPLETED shows the refund as PENDING.
recall-balance-untold|435|The balance that the refund of a deposit changes is told to nobody.
sweep-untold|435|The balance that a sweep changes at its destination is told to nobody.
just-in-time-failure-untold|432|No event tells that a just-in-time payment has failed.
platform-failure-untold|432|No event tells that a payment of the platform has failed.
business-failure-untold|432|No event tells that a payment of a business has failed.
pulled-completion-untold|432|No event tells that a payment that was pulled is completed.
approved-completion-untold|432|No event tells that an approved payment is completed.
business-refund-untold|433|The refund of a business's payment is told to nobody.
document-of-account|318|A document of an external account becomes one of its customer.
submission-of-owner|319|The id of a beneficial owner submits its business.
expiry-of-newest-reset|273|The newest reset of a customer expires with an older one.
pending-account-pays|21|A customer under review is funded, and pays from an internal account.
owner-id-of-other-type|25|The id of a beneficial owner has the type Owner.
bitcoin-two-decimals|38|Every currency object of BTC has two decimals.
platform-id-not-generated|48|A customer without a platformCustomerId gets none.
customer-ssn-without-hyphens|56|An SSN of a customer, not of an owner, needs no hyphens.
business-with-kyc-status|60|A business has a kycStatus in the place of its kybStatus.
changed-ssn-without-hyphens|57|An SSN that comes by a change needs no hyphens.
needless-channels-verified|61|Who has to verify no channel is shown with both as VERIFIED.
tax-id-of-american-form|65|The taxId of any business has to have the form of those of the US.
no-wallet-on-approval|88|A customer who is approved gets no embedded wallet.
us-three-digits-taken|109|An account number of fewer than four digits is taken for USD.
philippine-bank-any|115|A PHP account takes any text for the name of its institution.
solana-tether|126|A SOLANA_WALLET takes USDT.
euro-registration-optional|147|A business that is paid in EUR needs no registrationNumber.
bank-name-is-label|155|Discoveries tell the displayName as the bankName too, which creation refuses.
home-rate-null|179|The exchangeRate of a quote within one currency is null.
whole-amount-converted|187|Of a locked sending amount the fee is shown, and the whole is converted.
outgoing-as-credit|193|An outgoing transaction has the direction CREDIT.
lapsed-challenge-as-compliance|195|A challenge that expired fails with COMPLIANCE_REJECTED.
frozen-after-quote|222|An account that was frozen after the quote still pays.
immediate-from-account-waits|242|A quote at once from an internal account is PENDING.
kyb-pending-as-kyc|254|The review of a business that was submitted is told as CUSTOMER.KYC_PENDING.
owner-id-bare|25|The id of a beneficial owner has no type.
received-amount-not-rounded|26|The totalReceivingAmount of a quote between currencies is a fraction.
currencies-patch-ignored|50|A change leaves the currencies of a customer as they were.
idtype-passport-accepted|56|PASSPORT is taken for the idType of an individual.
zar-number-too-long|119|An account number of 14 digits is taken for ZAR.
cad-branch-code-optional|120|A CAD account needs no branchCode.
aed-iban-prefix-unchecked|121|The iban of an AED account may begin with the letters of any country.
receiving-currency-as-code|177|The receivingCurrency of a quote is a bare code.
owner-percentage-as-string|200|The ownershipPercentage of a beneficial owner is answered as a text.
failed-account-still-sends|220|An account that could not be provided sends and receives.
failed-ownership-stays-pending|229|A failed proof leaves the verification of an ownership open.
immediate-flag-ignored|242|A quote is PENDING in spite of immediatelyExecute.
kyc-link-without-expiry|312|The answer to a call for a hosted link has no expiresAt.
config-required-fields-missing|334|No supported currency has its providerRequiredCustomerFields.
delete-account-returns-200|363|The deletion of an external account answers 200 with the account.
immediate-realtime-accepted|380|An immediatelyExecute of a just-in-time quote is ignored.
purpose-of-payment-type-unchecked|383|A purposeOfPayment that is no text is taken.
wallet-request-id-not-required|422|A signed retry needs no Request-Id.
expired-quote-409|457|The execution of an expired quote is refused with 409.
unknown-document-holder-400|470|A document of a holder who is not there is refused with 400.
account-locked-429|474|ACCOUNT_LOCKED has the status 429.
no-owner-accepted|490|A business without any beneficial owner needs no control person.
refunded-card-status-kept|509|A purchase that is returned as a whole is REFUNDED.
verification-errors-absent|319|The answer to a submission that is accepted has no errors.
cop-bank-account-type-optional|112|A bank transfer in COP needs no bankAccountType.
rule-based-account-not-listed|343|Rule-based accounts are not in the list of their customer.
untrust-without-confirm|364|The trust in a beneficiary is taken away before that is confirmed.
broken-json-bare|447|A body that is no JSON is refused with an answer that is no error object.
remittance-counted-in-bytes|487|A remittanceInformation of 80 letters with accents is refused.
lookup-priced-in-dollars|297|A lookup names the currency that is asked, and is priced in dollars.
discoveries-without-credentials|290|Discoveries are told without credentials.
resets-of-all-customers|491|The resets of a day are counted over all customers.
totp-enrollment-null|275|The enrollmentStatus of a reset of TOTP is null.
change-replaces-all|309|A change takes away every member that it does not name.
itin-refused|56|An individual with an ITIN is refused.
resubmission-keeps-errors|260|A second submission is accepted, and has the errors of the first one.
owner-holder-unknown|201|A beneficial owner is no holder of documents.
standing-fee-before-override|384|A standing platform fee goes before a platformFeeOverride.
key-ignores-holder|350|A key that is used for another customer answers with the first account.
arbitrum-tether-refused|126|An account on Arbitrum in USDT is refused.
conversion-unscaled|26|A conversion takes no notice of the decimals of its two currencies.
funds-of-received|451|A locked receiving amount is all that the source needs to have.
executions-side-by-side|451|Two quotes over the same money both pay, executed at the same time.
pending-business-pays|21|A business under review pays.
immediate-without-quote-id|193|The transaction of a quote that is executed at once has no quoteId.
chain-always-base|193|The network of every onChainTransaction is that of Base.
second-sms-credential|461|A wallet has two credentials of SMS_OTP.
malformed-signature-crashes|422|A malformed signature of a wallet ends in an internal error.
immediate-processing-untold|432|No event tells of PROCESSING where a quote is executed at once.
business-rejection-as-kyc|437|The rejection of a business is told as CUSTOMER.KYC_REJECTED.
chinese-phone-dropped|124|The phoneNumber of a CNY account is not kept.
unknown-token-not-found|469|An unknown token id is refused with 401 and TOKEN_NOT_FOUND.
lookup-of-all-currencies|162|A lookup says that an account receives every currency.
unsettled-in-balance|78|What is paid stays in the balance until its payment has settled.
received-in-millisatoshis|26|What a quote pays out in BTC is shown in millisatoshis.
refund-pending-untold|246|The beginning of a refund is told to nobody.
odd-id-crashes|470|To read a customer by an unknown id that is no UUID ends in an internal error.
expired-priced-anew|386|The execution of an expired quote prices it again, and executes it.
southern-businesses-unchecked|149|A business in BWP or MWK needs no registrationNumber and no taxId.
platform-account-needs-customer|359|An external account without a customerId is refused.
colombian-papers-unknown|112|A beneficiary in COP whose documentType is TI or PP is refused.
first-submission-read|320|The verifications of a customer that are read are the first one alone.
refund-event-before-refund|433|The data of OUTGOING_PAYMENT.REFUND_PENDING has no refund.
received-symbol-of-sender|37|The receivingCurrency of a quote has the symbol of the sending one.
proof-not-kept|228|A proven ownership is answered with ACTIVE and told, and not kept.
email-not-resent|313|A second one-time code for the email is refused.
platform-list-of-everybody|361|The platform's list has the external accounts of every customer.
owner-itin-refused|328|A beneficial owner from the US with an ITIN is refused.
confirmed-email-left-out|314|A confirmed email is no longer among the channels.
authorized-never-started|240|The transaction of a quote that was authorized stays PENDING.
other-beside-others|62|OTHER needs its description only where it is the one category.
individual-submission-refused|319|An individual cannot be submitted by the interface.
immediate-quote-200|372|A quote that is executed at once is answered with 200.
kyc-event-old-status|436|The decision on an individual is told with the kycStatus PENDING.
reset-before-region|403|Outside of the SCA regions a reset is read and completed with 404, not 409.
wallet-at-once-unsigned|422|An embedded wallet pays at once without a signature.
executed-answer-stale|386|The answer to an execution shows the quote as PENDING.
deposit-without-total|79|A settled deposit raises the balance, and not the total balance.
retry-with-new-number|350|A retry with the same key shows another account number.
platform-list-with-rule-based|342|The platform's list has the rule-based accounts of customers.
unused-accounts-unlisted|88|The list of a customer's accounts leaves out those that never had money.
sweep-keeps|351|What is swept on stays in the balance of the rule-based account too.
delete-takes-namesakes|363|A deletion takes the accounts with the same platformAccountId with it.
failed-proof-event-old|229|The event of a failed proof of ownership shows the status from before.
list-one-per-currency|360|A customer's list has the newest external account of each currency alone.
nested-legal-name-unseen|137|A legalName under businessInfo of a beneficiary in USD does not count.
execution-at-new-rate|11|An execution converts at the rate of then, and not at that of the quote.
expired-execution-debits|386|The execution of an expired quote is refused, and debits its source.
short-execution-holds|78|An execution that is refused for lack of money leaves the rest on hold.
standing-fee-cached|335|The first standing fee that a quote has met is taken from all later ones.
override-unchecked-just-in-time|384|A just-in-time quote takes a platform fee in any currency.
description-lost-on-execution|193|A transaction has no description any more once it is PROCESSING.
wrong-proof-debits|240|A wrong proof is refused, and the source of the quote is debited.
status-filter-of-creation|394|The filter by status goes by the status that a payment was made with.
failure-reason-in-event-only|245|The failureReason is in the event of the failure, and not kept.
resubmission-told-again|254|A submission of a customer who is PENDING tells that a review begins.
rename-drops-contacts|309|A change of the fullName alone takes email and phoneNumber away.
listed-errors-of-before|320|A verification that is IN_PROGRESS is listed with errors from before.
email-verifies-phone|314|The code of the email verifies the phone too.
refund-of-newest-purchase|286|A standalone return points to the newest purchase of its card.
any-secret-after-the-right-one|424|Any secret is taken once the right one was given.
refused-fee-kept|335|A standing fee that is refused for its currency is kept.
phone-with-tail|499|The phone number of mobile money may have more digits than its country has.
lookup-bounds-unscaled|167|The sending bounds of a lookup take no notice of decimals.
sort-code-zeros-lost|116|A sortCode loses its leading zeros.
redirect-query-dropped|324|The kycUrl has the redirectUri without its query.
second-line-joined|54|The line2 of a customer's address is shown behind its line1, with a comma.
received-decimals-two|177|The receivingCurrency of a quote always has two decimals.
lightning-offer-beside-any|127|A bolt12 offer is taken beside a lightningAddress or an invoice.
enrollment-completed-at-once|275|A reset is enrolled again as soon as it is completed.
config-replaced|335|A change of one member of the configuration takes the other ones away.
account-event-of-owner|438|EXTERNAL_ACCOUNT.STATUS_UPDATED has the owner of the account as its data.
platform-accounts-not-looked-up|294|A lookup finds no account of the platform, whoever sends.
israeli-business-address|122|A business that is paid in ILS needs no address.
change-answered-old|309|The answer to a change shows the customer as it was before.
us-seventeen-digits-refused|109|An account number of 17 digits is refused for USD.
realtime-source-as-account|176|The source of a just-in-time quote is shown as an account.
unknown-owner-crashes|470|A document of an unknown beneficial owner ends in an internal error.
immediate-unasked|423|A quote that is executed at once needs no strong authentication.
debit-net|238|The debit of a quote leaves out all of its fees.
business-read-with-kyc-status|310|A business that is read has its status as kycStatus.
counterparty-as-bad-gateway|475|A lookup whose counterparty fails is refused with 502.
platform-id-made-at-reading|48|A generated platformCustomerId is another one in every answer.
list-body-crashes|451|A body that is a list ends in an internal error.
only-initiated-expires|273|A reset expires only where no liveness was submitted yet.
account-in-any-currency|107|An account of any type may be in any currency.
total-keeps-spent|79|The execution of a quote leaves the total balance of its source as it was.
deposit-event-old-balance|435|The event of a deposit shows the balance from before.
refused-account-stays|486|A rule-based account with a label that is refused is made all the same.
deleted-still-paid|103|A quote pays an external account that was deleted.
cfa-business-without-tax-id|149|A business that is paid in XOF needs no taxId.
indian-rails-taken-over|117|The payment rails that a client sends for INR are taken over.
derived-swift-not-kept|114|A derived swiftCode is answered at the creation, and not kept.
short-execution-starts-payment|238|An execution that is refused for lack of money starts a payment.
challenge-debits|239|A quote debits its source when the challenge is asked, before any proof.
authorized-keeps-challenge|184|A quote that was authorized still shows its challenge.
funds-other-free-later|62|OTHER among the sources of funds needs no description in a change.
balance-events-old|435|INTERNAL_ACCOUNT.BALANCE_UPDATED always shows the balances from before.
executed-without-description|182|The answer to an execution has no description.
locked-without-code|447|A locked customer is refused with an answer that is no error object.
unknown-customer-own-code|470|An unknown customer's hosted link is refused with an unlisted code.
payment-needs-execution|243|A just-in-time quote that was paid waits until it is executed.
emirates-individual-address|121|An individual who is paid in AED needs no address.
internal-account-looked-up|298|An internal account can be looked up as a receiver.
refund-in-total-only|78|A refund goes back into the total balance, and not into the balance.
immediate-unapproved|21|A customer who is not approved pays where a quote is executed at once.
coins-without-symbol|37|No currency object of a crypto currency has a symbol.
philippine-bank-by-label|115|A PHP account takes the displayName of an institution for its bankName.
no-label-empty-anywhere|83|Any internal account without a label shows an empty text as its label.
sweep-rule-by-default|348|Without a sweepRule an account is swept to its holder's own account.
file-type-by-name|488|The type of a document's file is told by the ending of its name.
sweep-rule-empty-object|84|The sweepRule of an account that is not rule-based is an empty object.
coin-instructions-flat|90|How to fund a crypto account is told without accountOrWalletInfo.
colombian-nit-refused|112|A beneficiary in COP whose documentType is NIT is refused.
funds-before-fees|451|What a quote sends without its fees is all that the source needs to have.
israeli-iban-prefix-unchecked|122|The iban of an ILS account may begin with any two letters.
nested-legal-name-unread|137|A legalName under businessInfo of a beneficiary never counts.
rail-demanded|377|A quote to an account with several rails needs a paymentRail.
unmatched-filter-ignored|342|The platform's list by a currency without accounts shows all of them.
any-token-id|419|Any token id is taken with the right secret.
customer-events-bare-id|25|Events name a customer by an id without its type.
platform-list-without-status|77|The platform's list of internal accounts leaves the status out.
wallet-signature-optional|422|The signature of a wallet is looked at only where one is sent.
sms-reset-starts-in-review|268|A reset of SMS_OTP starts as PENDING_REVIEW.
platform-account-names-an-owner|82|The platform's list shows its accounts with an owner.
ils-iban-check-shared-with-aed|122|The iban of an ILS account may be one of the Emirates.
document-number-parsed-as-number|318|A documentNumber of digits alone becomes a number.
malformed-json-answered-as-text|3|A body that is no JSON is refused with plain text.
platform-realtime-quote-without-instructions|376|The platform is not told how to pay just in time.
unknown-locked-side-taken-as-sending|378|An unknown lockedCurrencySide is taken for SENDING.
internal-account-updated-at-null|81|An internal account that has not changed yet has no updatedAt.
kyb-submission-moves-kyc-status|60|The submission of a business makes its kycStatus PENDING.
phone-confirm-marks-all-channels|316|Who confirms the phone has confirmed the email too.
slv-phone-in-national-format|113|SLV_ACCOUNT takes a phone number without its country.
status-event-carries-old-status|438|EXTERNAL_ACCOUNT.STATUS_UPDATED has the status from before.
format-check-lets-trailing-newline|499|A number of an account may have a line feed behind it.
receiving-total-in-hundredths|178|What a locked sending amount buys is told in hundredths.
platform-list-shows-customers-accounts|342|The platform's list of internal accounts has everybody's.
cny-wallet-needs-account-number|124|A payment to a wallet app in CNY needs an accountNumber.
realtime-quote-executable-by-call|243|A call executes a just-in-time quote that nobody paid.
closed-account-still-receives|221|A closed account is a destination, and takes deposits.
realtime-quote-lives-an-hour|493|A just-in-time quote lives for an hour.
platform-account-id-only-at-creation|100|The platformAccountId is in the answer to a creation alone.
shared-platform-customer-id-answers-first|48|A known platformCustomerId answers with its customer.
wallet-id-with-own-prefix|75|The id of an embedded wallet has a type of its own.
kyc-link-without-provider-for-business|312|The hosted link of a business has no provider.
phone-code-valid-unsent|262|The phone is verified by the code before that was sent.
failed-liveness-in-review-kept|272|A liveness that fails under review leaves the reset there.
croatia-outside-sca|14|Croatia is no SCA region.
cop-passport-refused|112|A beneficiary in COP whose documentType is PP is refused.
same-currency-rate-net-of-fees|179|Within one currency the exchangeRate is what is left after fees.
individual-needs-full-name|47|An individual without a fullName is refused.
immediate-execution-answers-transaction|372|A quote at once is answered with its transaction.
settled-at-in-local-offset|27|The settledAt of a transaction is in local time.
total-balance-decimals-as-string|38|The decimals of a totalBalance are a text.
platform-customer-id-zeros-lost|48|A platformCustomerId of digits alone loses its leading zeros.
patched-birth-date-one-day-early|52|A birthDate that comes by a change is kept as the day before.
ssn-pattern-unanchored|56|An SSN may have something before or behind it.
incorporated-on-no-day|65|The incorporatedOn of a business may be a day that no calendar has.
config-empty-as-null|334|What a currency requires of customers is null where that is nothing.
quote-instruction-type-outside|90|How to pay a quote has accountType beside accountOrWalletInfo.
routing-number-zeros-lost|109|A routingNumber loses its leading zeros.
slv-mobile-wants-bank-name|113|Mobile money of an SLV_ACCOUNT needs a bankName.
aed-takes-an-israeli-iban|121|The iban of an AED account may be one of Israel.
lookup-rate-cached-per-account|161|Every lookup of an account has the rate of the first one.
immediate-without-challenge|184|The answer to a quote at once that needs a proof has no challenge.
transaction-list-swaps-sent-and-received|193|A list swaps what was sent and what is received.
first-fault-of-change-only|209|Only the first invalid field of a change of a customer is told.
national-id-without-authority|327|A NATIONAL_ID needs no issuingAuthority.
secret-compared-as-prefix|419|The right secret is taken with anything behind it.
request-id-missing-as-signature|422|A retry without Request-Id has WALLET_SIGNATURE_MISSING.
third-name-not-understood|51|A fullName of more than two words counts as none at the submission.
change-of-newest-customer|309|A change goes to the customer who was created last.
consent-in-local-time|27|The timestamp of an endUserTermsConsent is shown in local time.
refused-quote-leaves-transaction|248|A quote to an unknown destination leaves a PENDING transaction.
change-provisions-again|88|Each change of an approved customer opens its accounts again.
delete-takes-same-account|363|A deletion takes other customers' accounts with the same accountInfo.
second-challenge-replaces-first|240|A challenge voids the one that another quote waits for.
reset-expiry-from-reading|408|The expiresAt of a reset is counted from each reading.
reset-starts-in-review|268|A reset of any factor starts as PENDING_REVIEW.
webhook-id-of-second|428|Webhooks that are sent in one second have one id.
malformed-id-crashes|470|A GET by an id that is no UUID behind its type ends in an internal error.
id-type-ignored|25|An id names its record whatever type stands before the colon.
field-as-pointer|209|The field of an invalid member is a JSON pointer.
lock-for-all|474|The lock-out of one customer locks out all of them.
label-lost-in-list|83|The label of a rule-based account is null in the list.
"""


def _rows() -> dict[str, Bug]:
    rows = (line.split("|") for line in _TABLE.strip().splitlines() if line)
    return {name: Bug(int(line), statement) for name, line, statement in rows}


BUGS: Mapping[str, Bug] = _rows()
