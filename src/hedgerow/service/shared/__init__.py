"""Leader and helper: what the service does with tasks whose reports no single server can read.

:mod:`hedgerow.aggregate` has the protocol; here are its messages over HTTP and its state in the database. Which role a
server has in a task is what the signed task says of its keys.
"""
