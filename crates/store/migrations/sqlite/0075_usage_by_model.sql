-- What the requests to each model took by day; usage_days does not know the model.
CREATE TABLE model_days (
    day           INTEGER NOT NULL,
    agent_id      TEXT    NOT NULL,
    owner         TEXT    NOT NULL,
    provider      TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    steps         INTEGER NOT NULL,
    input_tokens  REAL    NOT NULL,
    output_tokens REAL    NOT NULL,
    -- US dollars, as far as prices are known.
    cost_usd      REAL    NOT NULL,
    saved_usd     REAL    NOT NULL,
    -- Sums over the steps.
    first_part_ms REAL    NOT NULL,
    whole_ms      REAL    NOT NULL,
    -- The day first: sums over many days read a part of the table.
    PRIMARY KEY (day, agent_id, owner, provider, model)
) STRICT, WITHOUT ROWID;

-- What is there already.
INSERT INTO model_days
SELECT at / 86400000, agent_id, owner, provider, model, count(*), total(input_tokens), total(output_tokens), total(cost_usd),
       total(saved_usd), total(first_part_ms), total(whole_ms)
FROM steps GROUP BY 1, 2, 3, 4, 5;

CREATE TRIGGER model_usage_of_step AFTER INSERT ON steps BEGIN
    INSERT INTO model_days
    VALUES (new.at / 86400000, new.agent_id, new.owner, new.provider, new.model, 1, new.input_tokens, new.output_tokens,
            coalesce(new.cost_usd, 0), coalesce(new.saved_usd, 0), new.first_part_ms, new.whole_ms)
    ON CONFLICT DO UPDATE SET
        steps = steps + 1,
        input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cost_usd = cost_usd + excluded.cost_usd,
        saved_usd = saved_usd + excluded.saved_usd,
        first_part_ms = first_part_ms + excluded.first_part_ms,
        whole_ms = whole_ms + excluded.whole_ms;
END;
