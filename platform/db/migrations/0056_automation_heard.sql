-- The runs that an event about a received message began, or let go on: if the message is deleted, they forget it (product/automation). Runs
-- from before are found by what they say of their cause, which begins with 66 characters that are always the same.
CREATE TABLE automation_heard (
    event_id {id} NOT NULL,
    run_id   {id} NOT NULL,
    PRIMARY KEY (event_id, run_id)
);
CREATE INDEX automation_heard_run ON automation_heard (run_id);
INSERT INTO automation_heard (event_id, run_id)
SELECT CAST(substr(cause, 67, 36) AS {id}), id FROM automation_run
WHERE cause LIKE '{"type":"system","event_name":"system:email.received","event_id":"%';
