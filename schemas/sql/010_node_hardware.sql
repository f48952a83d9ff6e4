-- What a node was like and since when: jobs of long ago are compared with what they ran on then. `devices` is a JSON
-- list of the different ["kind", "model", artificial].
CREATE TABLE node_hardware (
  node          TEXT NOT NULL,
  since_ms      INTEGER NOT NULL,
  agent_version TEXT NOT NULL,
  devices       TEXT NOT NULL,
  PRIMARY KEY (node, since_ms)
) WITHOUT ROWID;
INSERT OR REPLACE INTO node_hardware
SELECT json_extract(body, '$.node.id'), time_ms, coalesce(json_extract(body, '$.node.agent_version'), ''),
       (SELECT json_group_array(json(device)) FROM
         (SELECT DISTINCT json_array(json_extract(value, '$.kind'), json_extract(value, '$.model'),
                                     json(iif(json_extract(value, '$.artificial'), 'true', 'false'))) AS device
          FROM json_each(events.body, '$.node.devices') ORDER BY device))
FROM events WHERE type IN ('node_joined', 'node_changed');
