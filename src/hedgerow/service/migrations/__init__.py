"""The steps of the database's schema, for Alembic; :mod:`hedgerow.service.migrate` runs them."""
