#!/usr/bin/env bash
# Runs the suite with the inputs of the action, and tells the job what came of it.
set -uo pipefail
program="$RUNNER_TEMP/conformance/bin/payments-conformance"

arguments=("--report-dir=$REPORT_DIR")
[ -n "$BASE_URL_GIVEN" ] && arguments+=("--base-url=$BASE_URL_GIVEN")
[ -n "$PROFILE" ] && arguments+=("--profile=$PROFILE")
[ -n "$REQUIRE_EXERCISED" ] && arguments+=("--require-exercised=$REQUIRE_EXERCISED")
[ -n "$BASELINE" ] && arguments+=("--baseline=$BASELINE")
[ -n "$RUN_SEED" ] && arguments+=("--run-seed=$RUN_SEED")
[ -n "$FUZZ_EXAMPLES" ] && arguments+=("--fuzz-examples=$FUZZ_EXAMPLES")
[ -n "$MODEL_EXAMPLES" ] && arguments+=("--model-examples=$MODEL_EXAMPLES")
[ -n "$FAILING_CASES" ] && arguments+=("--failing-cases=$FAILING_CASES")
[ -n "$BUDGET" ] && arguments+=("--budget=$BUDGET")
[ -n "$REPLAY" ] && arguments+=("--replay=$REPLAY")
[ -n "$SHARD" ] && arguments+=("--shard=$SHARD")
for name in $CLASSES; do
  arguments+=("--class=$name")
done
while IFS= read -r option; do
  [ -n "$option" ] && arguments+=("$option")
done <<<"$OPTIONS"

# The run itself appends the summary to the file that the job names for it.
"$program" run "${arguments[@]}"
status=$?
echo "exit-status=$status" >>"$GITHUB_OUTPUT"
# Without a report there is nothing to tell but what pytest has said.
if [ -f "$REPORT_DIR/report.json" ]; then
  "$program" export annotations "$REPORT_DIR"
  "$program" export sarif "$REPORT_DIR" --output="$REPORT_DIR/report.sarif"
fi
exit "$status"
