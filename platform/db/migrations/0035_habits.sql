-- Sessions that nobody has used for long are looked for by when they were last used (product/account).
CREATE INDEX account_session_seen ON account_session (seen_at);

-- How the rows of more tables live, so that PostgreSQL cleans them when that is due (platform/db/habits.go). Written once, and kept long:
{growing event};
{growing email};
{growing email_content};
{growing email_attempt};
{growing email_tracking};
{growing email_search};
{growing log_entry};
{growing log_search};
{growing webhook_payload};
{growing webhook_attempt};
{growing inbound_received};
{growing inbound_message};
-- Counted up with every message:
{counting plan_usage};
{counting stats_count};
{counting stats_isp};
{counting stats_state};
{counting stats_rank};
{counting tenant_usage};
{counting suppression_total};
{counting inbound_total};
{counting broadcast_count};
{counting broadcast_part};
{counting automation_tally};
{counting node};
