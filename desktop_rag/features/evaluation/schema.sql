-- In the words of DuckDB, which the other engines translate; run whole at each opening.

-- Sets of questions with their runs, answers and judgements, each as JSON.
CREATE TABLE IF NOT EXISTS experiments (
    record_id VARCHAR, kind VARCHAR, owner_id VARCHAR, made_of VARCHAR, number BIGINT
);

-- Measurements of earlier versions, which are moved when the sets are first read.
CREATE TABLE IF NOT EXISTS evaluations (
    evaluation_id VARCHAR, kind VARCHAR, name VARCHAR, created_at DOUBLE, seconds DOUBLE,
    version VARCHAR, settings VARCHAR, results VARCHAR, queries VARCHAR, number BIGINT DEFAULT 0
);
