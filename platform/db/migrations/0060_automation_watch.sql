-- Under which key automation_member has those who are where a trigger watches, its step's if there is none, and from which event on it tells of all
-- of them: they are noted some at a time, and while that goes on no event is after it (product/automation).
ALTER TABLE automation_trigger ADD COLUMN watch TEXT;
ALTER TABLE automation_trigger ADD COLUMN noted_at BIGINT NOT NULL DEFAULT 0;
