-- Views for people's own scripts: names joined in, hidden runs left out. Nothing is stored here, so they can be
-- dropped and rebuilt at any time.

CREATE VIEW visible_run AS
    SELECT * FROM run WHERE deleted = 0;

CREATE VIEW snapshot_named AS
    SELECT s.*, t.layer, t.role, t.format
    FROM scale_snapshot AS s JOIN tensor AS t ON t.id = s.tensor_id JOIN visible_run AS r ON r.id = s.run_id;

CREATE VIEW range_named AS
    SELECT g.*, n.text AS name
    FROM range AS g JOIN name AS n ON n.id = g.name_id JOIN visible_run AS r ON r.id = g.run_id;

CREATE VIEW kernel_named AS
    SELECT k.*, n.text AS name
    FROM kernel AS k JOIN name AS n ON n.id = k.name_id JOIN visible_run AS r ON r.id = k.run_id;
