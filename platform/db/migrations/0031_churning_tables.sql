-- Tables whose rows come and go, or change, with every message: PostgreSQL is told to clean them often (platform/db/dialect.go).
{churning queue_item};
{churning event_follower};
{churning webhook_delivery};
{churning email_recipient};
{churning api_idempotency};
