"""How requests to Jama are sent, limited, retried and walked."""
