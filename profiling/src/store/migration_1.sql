-- Makes a file of version 1 one of version 2: what block recipes and exponent histograms add to a snapshot, and the
-- tables of inspections. schema.sql explains the columns; the views are rebuilt afterwards.

ALTER TABLE scale_snapshot ADD COLUMN scale_inv_min REAL;
ALTER TABLE scale_snapshot ADD COLUMN scale_inv_max REAL;
ALTER TABLE scale_snapshot ADD COLUMN smallest REAL;

CREATE TABLE inspection (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid            TEXT    NOT NULL UNIQUE,
    path            TEXT    NOT NULL,
    at_ns           INTEGER NOT NULL,
    program_version TEXT    NOT NULL,
    architecture    TEXT    NOT NULL,
    tensors         INTEGER NOT NULL,
    deleted         INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE inspected_tensor (
    inspection_id INTEGER NOT NULL REFERENCES inspection(id) ON DELETE CASCADE,
    i             INTEGER NOT NULL,
    tensor        TEXT    NOT NULL,
    recipe        TEXT    NOT NULL,
    role          TEXT    NOT NULL,
    format        TEXT    NOT NULL,
    dtype         TEXT    NOT NULL,
    rows          INTEGER NOT NULL,
    cols          INTEGER NOT NULL,
    count         INTEGER NOT NULL,
    amax          REAL,
    smallest      REAL,
    scale_inv_min REAL,
    scale_inv_max REAL,
    saturated     INTEGER NOT NULL,
    underflowed   INTEGER NOT NULL,
    zeros         INTEGER NOT NULL,
    non_finite    INTEGER NOT NULL,
    sq_error      REAL,
    sq_signal     REAL,
    PRIMARY KEY (inspection_id, i)
) STRICT, WITHOUT ROWID;
