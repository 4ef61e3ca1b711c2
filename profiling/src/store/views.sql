-- Views for people's own scripts: names joined in, hidden runs left out. Nothing is stored here, so they can be
-- dropped and rebuilt at any time: every migration does.

DROP VIEW IF EXISTS visible_run;
CREATE VIEW visible_run AS
    SELECT * FROM run WHERE deleted = 0;

DROP VIEW IF EXISTS snapshot_named;
CREATE VIEW snapshot_named AS
    SELECT s.*, t.layer, t.role, t.format
    FROM scale_snapshot AS s JOIN tensor AS t ON t.id = s.tensor_id JOIN visible_run AS r ON r.id = s.run_id;

DROP VIEW IF EXISTS range_named;
CREATE VIEW range_named AS
    SELECT g.*, n.text AS name
    FROM range AS g JOIN name AS n ON n.id = g.name_id JOIN visible_run AS r ON r.id = g.run_id;

DROP VIEW IF EXISTS kernel_named;
CREATE VIEW kernel_named AS
    SELECT k.*, n.text AS name
    FROM kernel AS k JOIN name AS n ON n.id = k.name_id JOIN visible_run AS r ON r.id = k.run_id;

DROP VIEW IF EXISTS inspected_named;
CREATE VIEW inspected_named AS
    SELECT t.*, n.path, n.at_ns, n.architecture
    FROM inspected_tensor AS t JOIN inspection AS n ON n.id = t.inspection_id WHERE n.deleted = 0;
