-- What happens by itself once something else has happened (product/automation). draft is the definition people work on;
-- published is the number of the version that runs begin with, 0 if there is none.
CREATE TABLE automation (
    id             {id} PRIMARY KEY,
    workspace_id   {id} NOT NULL,
    name           TEXT NOT NULL,
    search         TEXT NOT NULL,
    description    TEXT,
    status         TEXT NOT NULL,
    draft          TEXT NOT NULL,
    draft_changed  BOOLEAN NOT NULL,
    published      BIGINT NOT NULL,
    latest         BIGINT NOT NULL,
    metadata       TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    archived_at    BIGINT
);
CREATE INDEX automation_newest ON automation (workspace_id, created_at DESC, id DESC);

-- How many automations of a workspace are enabled: the limit of the plan is a condition on this row.
CREATE TABLE automation_total (
    workspace_id {id} PRIMARY KEY,
    automations  BIGINT NOT NULL
);

-- A definition as it was published. It never changes: runs stay on the version they began with.
CREATE TABLE automation_version (
    id             {id} PRIMARY KEY,
    workspace_id   {id} NOT NULL,
    automation_id  {id} NOT NULL,
    version        BIGINT NOT NULL,
    definition     TEXT NOT NULL,
    note           TEXT,
    rolled_back_from BIGINT,
    created_by     TEXT,
    created_at     BIGINT NOT NULL
);
CREATE UNIQUE INDEX automation_version_number ON automation_version (automation_id, version);

-- What the enabled automations wait for. since is when the automation began to listen for it.
CREATE TABLE automation_trigger (
    automation_id {id} NOT NULL,
    step_key      TEXT NOT NULL,
    workspace_id  {id} NOT NULL,
    event_name    TEXT NOT NULL,
    version       BIGINT NOT NULL,
    since         BIGINT NOT NULL,
    PRIMARY KEY (automation_id, step_key)
);
CREATE INDEX automation_trigger_event ON automation_trigger (workspace_id, event_name);

-- Things that the draft or the published version of an automation needs.
CREATE TABLE automation_use (
    automation_id {id} NOT NULL,
    target        TEXT NOT NULL,
    workspace_id  {id} NOT NULL,
    PRIMARY KEY (automation_id, target)
);
CREATE INDEX automation_use_target ON automation_use (workspace_id, target);

-- One way through a version. step is where it stands, pass how often it has come there, tries how often the step was tried.
CREATE TABLE automation_run (
    id            {id} PRIMARY KEY,
    workspace_id  {id} NOT NULL,
    automation_id {id} NOT NULL,
    version       BIGINT NOT NULL,
    status        TEXT NOT NULL,
    test          BOOLEAN NOT NULL,
    simulated     BOOLEAN NOT NULL,
    contact_id    {id},
    email         TEXT,
    cause         TEXT NOT NULL,
    payload       TEXT NOT NULL,
    depth         BIGINT NOT NULL,
    step          TEXT,
    pass          BIGINT NOT NULL,
    tries         BIGINT NOT NULL,
    taken         BIGINT NOT NULL,
    resume_at     BIGINT,
    failure       TEXT,
    started_at    BIGINT NOT NULL,
    completed_at  BIGINT
);
CREATE INDEX automation_run_newest ON automation_run (automation_id, started_at DESC, id DESC);
CREATE INDEX automation_run_active ON automation_run (automation_id, id) WHERE completed_at IS NULL;
CREATE INDEX automation_run_ended ON automation_run (workspace_id, completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX automation_run_old ON automation_run (completed_at) WHERE completed_at IS NOT NULL;

-- What a run did, append-only but for the step that waits.
CREATE TABLE automation_step (
    run_id       {id} NOT NULL,
    number       BIGINT NOT NULL,
    step_key     TEXT NOT NULL,
    type         TEXT NOT NULL,
    status       TEXT NOT NULL,
    output       TEXT,
    failure      TEXT,
    started_at   BIGINT NOT NULL,
    completed_at BIGINT,
    PRIMARY KEY (run_id, number)
);

-- How many runs of a version stand how, kept in the transactions that change it.
CREATE TABLE automation_tally (
    automation_id {id} NOT NULL,
    version       BIGINT NOT NULL,
    status        TEXT NOT NULL,
    runs          BIGINT NOT NULL,
    PRIMARY KEY (automation_id, version, status)
);

-- A contact that has been in an automation: whether it still is, and how often it began since a moment.
CREATE TABLE automation_entry (
    automation_id {id} NOT NULL,
    contact_id    {id} NOT NULL,
    run_id        {id},
    counted_from  BIGINT NOT NULL,
    starts        BIGINT NOT NULL,
    PRIMARY KEY (automation_id, contact_id)
);

-- A run that waits for an event of its contact; received is what the event said once it has come.
CREATE TABLE automation_wait (
    run_id       {id} PRIMARY KEY,
    workspace_id {id} NOT NULL,
    contact_id   {id} NOT NULL,
    event_name   TEXT NOT NULL,
    received     TEXT
);
CREATE INDEX automation_wait_event ON automation_wait (workspace_id, contact_id, event_name);

-- A contact that was seen on the list or in the segment that a trigger watches.
CREATE TABLE automation_member (
    automation_id {id} NOT NULL,
    step_key      TEXT NOT NULL,
    contact_id    {id} NOT NULL,
    PRIMARY KEY (automation_id, step_key, contact_id)
);

-- A secret for HTTP steps, sealed.
CREATE TABLE automation_credential (
    id            {id} PRIMARY KEY,
    workspace_id  {id} NOT NULL,
    name          TEXT NOT NULL,
    search        TEXT NOT NULL,
    type          TEXT NOT NULL,
    secret        {blob} NOT NULL,
    secret_prefix TEXT NOT NULL,
    username      TEXT,
    header_name   TEXT,
    allowed_hosts TEXT NOT NULL,
    base_url      TEXT,
    settings      TEXT NOT NULL,
    last_test     TEXT,
    last_used_at  BIGINT,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    rotated_at    BIGINT
);
CREATE UNIQUE INDEX automation_credential_name ON automation_credential (workspace_id, search);

-- An event that customers send into flows, with the types of what it says.
CREATE TABLE automation_event (
    id             {id} PRIMARY KEY,
    workspace_id   {id} NOT NULL,
    name           TEXT NOT NULL,
    search         TEXT NOT NULL,
    description    TEXT,
    fields         TEXT NOT NULL,
    sample_payload TEXT NOT NULL,
    send_count     BIGINT NOT NULL,
    last_sent_at   BIGINT,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL
);
CREATE UNIQUE INDEX automation_event_name ON automation_event (workspace_id, name);

-- The run that sent an email.
ALTER TABLE email ADD COLUMN automation_run_id {id};
