-- The run database (.amax): facts only, one place. Derived views are in views.sql.
-- Times are nanoseconds since the Unix epoch on engine::clockNs(); durations are nanoseconds. A REAL that was NaN is
-- stored as NULL; infinities are stored as such. application_id and user_version are set by database_file.cpp.

CREATE TABLE bench (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL,                -- as typed by the user
    created_at_ns   INTEGER NOT NULL,                -- ns, Unix
    baseline_run_id INTEGER REFERENCES run(id) ON DELETE SET NULL  -- what differences are measured against
) STRICT;

CREATE TABLE run (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice in one file
    uuid             TEXT    NOT NULL UNIQUE,        -- version 4; the same in every copy of the run
    name             TEXT    NOT NULL,               -- may be changed by the user
    bench_id         INTEGER REFERENCES bench(id) ON DELETE SET NULL,  -- NULL: a run of its own
    status           TEXT    NOT NULL CHECK (status IN ('running', 'finished', 'interrupted', 'failed', 'crashed')),
    started_at_ns    INTEGER NOT NULL,               -- ns, Unix
    ended_at_ns      INTEGER,                        -- ns, Unix; NULL while running and after a crash
    device           TEXT    NOT NULL,               -- "cpu", "cuda:0"
    device_name      TEXT    NOT NULL,               -- the processor's own name
    backend          TEXT    NOT NULL,               -- engine backend
    kernels          TEXT    NOT NULL,               -- chosen kernel implementations
    precision_asked  TEXT    NOT NULL,               -- "auto", "fp32", "bf16", "fp8"
    precision        TEXT    NOT NULL,               -- what was run
    precision_reason TEXT    NOT NULL,               -- why it differs from what was asked, or is emulated; "" if not
    emulated         INTEGER NOT NULL,               -- 1: the device has no arithmetic of this precision
    recipe           TEXT    NOT NULL,               -- JSON; "" unless fp8
    model            TEXT    NOT NULL,               -- JSON
    train            TEXT    NOT NULL,               -- JSON
    data             TEXT    NOT NULL,               -- "stride", "text:PATH", "tokens:PATH"
    seed             INTEGER NOT NULL,               -- the 64 bits of the unsigned seed
    host             TEXT    NOT NULL,               -- JSON: machine description
    program_version  TEXT    NOT NULL,               -- of the recording program
    steps_planned    INTEGER NOT NULL,               -- steps; last planned step + 1
    first_step       INTEGER NOT NULL,               -- 0, or where a resumed run went on
    parameters       INTEGER NOT NULL,               -- trained numbers
    memory_bytes     INTEGER NOT NULL,               -- bytes held by the engine's arenas
    flops_per_step   REAL    NOT NULL,               -- floating-point operations of the matrix products of one step
    tokens_per_step  INTEGER NOT NULL,               -- tokens
    deleted          INTEGER NOT NULL DEFAULT 0,     -- 1: hidden from every query, can be brought back
    writer_pid       INTEGER NOT NULL,               -- recording process
    writer_start     INTEGER NOT NULL,               -- its start time, clock ticks since boot
    writer_boot      TEXT    NOT NULL,               -- boot id of its machine
    writer_namespace INTEGER NOT NULL,               -- inode of its PID namespace; 0: unknown
    writer_host      TEXT    NOT NULL                -- name of its machine and a hash of its machine id
) STRICT;
CREATE INDEX run_bench ON run(bench_id);

CREATE TABLE step (
    run_id       INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    step         INTEGER NOT NULL,  -- from 0
    start_ns     INTEGER NOT NULL,  -- ns, Unix
    duration_ns  INTEGER NOT NULL,  -- ns; optimizer included, validation excluded
    loss         REAL,              -- nats per token; NULL: NaN
    val_loss     REAL,              -- nats per token on held-out data after this step; NULL: NaN or not taken
    validated    INTEGER NOT NULL DEFAULT 0,  -- 1: val_loss was taken
    grad_norm    REAL,              -- before clipping; NULL: NaN
    lr           REAL,              -- learning rate
    tokens       INTEGER NOT NULL,  -- tokens trained on
    skipped      INTEGER NOT NULL,  -- 1: the guard kept the update from being applied
    memory_bytes INTEGER NOT NULL,  -- bytes held by the engine's arenas
    PRIMARY KEY (run_id, step)
) STRICT, WITHOUT ROWID;
CREATE INDEX step_validated ON step(run_id, step) WHERE validated = 1;

CREATE TABLE tensor (
    id     INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    layer  TEXT    NOT NULL,  -- "layer.3.mlp.fc1"
    role   TEXT    NOT NULL,  -- operands: "input", "weight", "grad_output"; results: "output", "dgrad", "wgrad"
    format TEXT    NOT NULL,  -- what it is stored in: "E4M3", "E5M2", "E2M1", "BF16", "FP32"
    rows   INTEGER NOT NULL,  -- elements
    cols   INTEGER NOT NULL   -- elements
) STRICT;
CREATE INDEX tensor_run ON tensor(run_id);

-- One tensor at one step. Written in key order, from a buffer of at most one second. A tensor that was not cast
-- (scale is NULL) has amax and count only, and 0 in the counters of the cast.
CREATE TABLE scale_snapshot (
    run_id        INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    tensor_id     INTEGER NOT NULL,
    step          INTEGER NOT NULL,  -- from 0
    amax          REAL,              -- largest |x| of the unscaled tensor at this step; may be infinite; NULL: NaN
    scale         REAL,              -- of this step's cast; block recipes: of the block with the largest amax
    saturated     INTEGER NOT NULL,  -- elements with |x*scale| above the format's largest finite value
    underflowed   INTEGER NOT NULL,  -- elements that were not zero before the cast and are after
    zeros         INTEGER NOT NULL,  -- elements that were zero before the cast
    non_finite    INTEGER NOT NULL,  -- elements that were infinite or NaN before the cast
    count         INTEGER NOT NULL,  -- elements
    sq_error      REAL,              -- sum of (x - dequantised x)^2 over finite elements; NULL: not cast
    sq_signal     REAL,              -- sum of x^2 over finite elements; NULL: not cast
    scale_inv_min REAL,              -- smallest factor that dequantises a block; with one per tensor 1/scale
    scale_inv_max REAL,              -- largest such factor; both NULL: not cast
    smallest      REAL,              -- smallest |x| that is not 0; NULL: not looked for at this step, or none
    PRIMARY KEY (run_id, tensor_id, step)
) STRICT, WITHOUT ROWID;

-- How many elements fall into each binade, where that was counted. Zeros, FP32 subnormals and non-finite elements are
-- in none of them.
CREATE TABLE exponent_hist (
    run_id         INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    tensor_id      INTEGER NOT NULL,
    step           INTEGER NOT NULL,  -- from 0
    counts         BLOB    NOT NULL,  -- elements per binade, unsigned 32-bit little-endian
    first_exponent INTEGER NOT NULL,  -- e of the first binade, 2^e <= |x| < 2^(e+1); the next count is of e + 1
    PRIMARY KEY (run_id, tensor_id, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE name (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE  -- of ranges and kernels, shared by all runs
) STRICT;

-- NVTX ranges. Ids count from 1 within a run, in the order of opening, together with kernel.id.
CREATE TABLE range (
    run_id      INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    step        INTEGER NOT NULL,  -- -1: outside a step
    id          INTEGER NOT NULL,
    parent_id   INTEGER NOT NULL,  -- enclosing range; 0: none
    thread      INTEGER NOT NULL,  -- small number of the producing thread, from 0
    depth       INTEGER NOT NULL,  -- 0: outermost
    kind        INTEGER NOT NULL,  -- 1 step, 2 phase, 3 layer, 4 module
    name_id     INTEGER NOT NULL,
    start_ns    INTEGER NOT NULL,  -- ns, Unix
    duration_ns INTEGER NOT NULL,  -- ns
    flops       REAL,              -- floating-point operations; 0: not stated
    bytes       REAL,              -- bytes read and written; 0: not stated
    PRIMARY KEY (run_id, step, id)
) STRICT, WITHOUT ROWID;

-- Units of device work; on the CPU, a timed kernel call.
CREATE TABLE kernel (
    run_id      INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    step        INTEGER NOT NULL,  -- -1: outside a step
    id          INTEGER NOT NULL,
    range_id    INTEGER NOT NULL,  -- enclosing range; 0: none
    thread      INTEGER NOT NULL,  -- small number of the launching thread, from 0
    depth       INTEGER NOT NULL,  -- nesting among the ranges; 0: outermost
    name_id     INTEGER NOT NULL,
    device      INTEGER NOT NULL,  -- index of the device, from 0
    stream      INTEGER NOT NULL,  -- index of the stream on the device; 0 on the CPU
    start_ns    INTEGER NOT NULL,  -- ns, Unix
    duration_ns INTEGER NOT NULL,  -- ns
    flops       REAL,              -- floating-point operations; 0: not stated
    bytes       REAL,              -- bytes read and written; 0: not stated
    source      TEXT    NOT NULL,  -- who timed it: "cpu", "events", "cupti", "import"
    PRIMARY KEY (run_id, step, id)
) STRICT, WITHOUT ROWID;

-- Every repeat of a benchmark, never only a mean.
CREATE TABLE sample (
    run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    metric TEXT    NOT NULL,  -- "tokens_per_second", "step_ms"
    i      INTEGER NOT NULL,  -- repeat, from 0
    value  REAL,              -- in the unit of the metric
    PRIMARY KEY (run_id, metric, i)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
    id       INTEGER PRIMARY KEY,
    run_id   INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    step     INTEGER NOT NULL,  -- -1: before the first step
    at_ns    INTEGER NOT NULL,  -- ns, Unix
    severity INTEGER NOT NULL,  -- 1 info, 2 warning, 3 error
    code     TEXT    NOT NULL,  -- stable word: "fallback", "saturation", "non_finite", ...
    text     TEXT    NOT NULL
) STRICT;
CREATE INDEX event_run ON event(run_id, step);

CREATE TABLE generation (
    id      INTEGER PRIMARY KEY,
    run_id  INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    step    INTEGER NOT NULL,  -- steps made when it was generated, minus one
    prompt  TEXT    NOT NULL,
    output  TEXT    NOT NULL,
    correct INTEGER NOT NULL,  -- tokens or prompts that follow the rule of the data
    total   INTEGER NOT NULL   -- of so many; 0: the data has no rule
) STRICT;
CREATE INDEX generation_run ON generation(run_id, step);

-- What could not be recorded or imported, counted.
CREATE TABLE import_issue (
    run_id        INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    name          TEXT    NOT NULL,  -- stable word: "ranges_dropped"
    severity      INTEGER NOT NULL,  -- 1 info, 2 warning, 3 error
    count         INTEGER NOT NULL,  -- how often
    first_example TEXT    NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

-- A model file that `inspect` looked at.
CREATE TABLE inspection (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice in one file
    uuid            TEXT    NOT NULL UNIQUE,     -- version 4
    path            TEXT    NOT NULL,            -- as given by the user
    at_ns           INTEGER NOT NULL,            -- ns, Unix: when it began
    program_version TEXT    NOT NULL,            -- of the inspecting program
    architecture    TEXT    NOT NULL,            -- "gpt2", "llama"; "" when the names tell none
    tensors         INTEGER NOT NULL,            -- tensors in the file, also those that were not looked at
    deleted         INTEGER NOT NULL DEFAULT 0   -- 1: hidden from every query, can be brought back
) STRICT;

-- One tensor of a model file under one recipe.
CREATE TABLE inspected_tensor (
    inspection_id INTEGER NOT NULL REFERENCES inspection(id) ON DELETE CASCADE,
    i             INTEGER NOT NULL,  -- order of inspection, from 0
    tensor        TEXT    NOT NULL,  -- name in the file
    recipe        TEXT    NOT NULL,  -- "delayed", "current", "block", "mxfp8", "nvfp4"
    role          TEXT    NOT NULL,  -- as what it was cast: "weight"
    format        TEXT    NOT NULL,  -- what it was cast to: "E4M3", "E5M2", "E2M1"
    dtype         TEXT    NOT NULL,  -- in the file: "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"
    rows          INTEGER NOT NULL,  -- elements
    cols          INTEGER NOT NULL,  -- elements
    count         INTEGER NOT NULL,  -- elements
    amax          REAL,              -- largest |x| of the unscaled tensor; may be infinite; NULL: NaN
    smallest      REAL,              -- smallest |x| that is not 0; NULL: none
    scale_inv_min REAL,              -- smallest factor that dequantises a block; with one per tensor 1/scale
    scale_inv_max REAL,              -- largest such factor
    saturated     INTEGER NOT NULL,  -- elements with |x*scale| above the format's largest finite value
    underflowed   INTEGER NOT NULL,  -- elements that were not zero before the cast and are after
    zeros         INTEGER NOT NULL,  -- elements that were zero before the cast
    non_finite    INTEGER NOT NULL,  -- elements that were infinite or NaN before the cast
    sq_error      REAL,              -- sum of (x - dequantised x)^2 over finite elements
    sq_signal     REAL,              -- sum of x^2 over finite elements
    PRIMARY KEY (inspection_id, i)
) STRICT, WITHOUT ROWID;
