"""For authors of plugins and for our own tests: fakes, contracts and the Jama simulator."""
