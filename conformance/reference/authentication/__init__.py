"""The authentication of customers and of agents that act for them."""
