"""What an evaluation is made of: pipelines to try, judged queries, what was found, and how it is reported."""
