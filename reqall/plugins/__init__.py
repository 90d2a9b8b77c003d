"""The built-in plugins; each imports only the façade, as an outside plugin would."""
