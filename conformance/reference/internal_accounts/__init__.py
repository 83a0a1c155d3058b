"""Accounts that hold balances, and the ledger behind them."""
