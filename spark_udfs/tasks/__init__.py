"""What every task of ours does beside parsing, and what tasks report."""
