-- Questions that the app asks by itself with their state, and the runs of each, as JSON. In the
-- words of DuckDB, which the other engines translate; run whole at each opening.

CREATE TABLE IF NOT EXISTS standing_questions (
    question_id VARCHAR, made_of VARCHAR, state VARCHAR DEFAULT '{}',
    is_deleted BOOLEAN DEFAULT false
);

CREATE TABLE IF NOT EXISTS standing_runs (
    run_id VARCHAR, question_id VARCHAR, made_of VARCHAR, number BIGINT
);
