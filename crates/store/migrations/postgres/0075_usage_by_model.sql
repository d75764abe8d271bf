-- What the requests to each model took by day; see migrations/sqlite.
CREATE TABLE model_days (
    day           BIGINT           NOT NULL,
    agent_id      TEXT COLLATE "C" NOT NULL,
    owner         TEXT COLLATE "C" NOT NULL,
    provider      TEXT COLLATE "C" NOT NULL,
    model         TEXT COLLATE "C" NOT NULL,
    steps         BIGINT           NOT NULL,
    input_tokens  DOUBLE PRECISION NOT NULL,
    output_tokens DOUBLE PRECISION NOT NULL,
    cost_usd      DOUBLE PRECISION NOT NULL,
    saved_usd     DOUBLE PRECISION NOT NULL,
    first_part_ms DOUBLE PRECISION NOT NULL,
    whole_ms      DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (day, agent_id, owner, provider, model)
);

INSERT INTO model_days
SELECT at / 86400000, agent_id, owner, provider, model, count(*), sum(input_tokens), sum(output_tokens), coalesce(sum(cost_usd), 0),
       coalesce(sum(saved_usd), 0), sum(first_part_ms), sum(whole_ms)
FROM steps GROUP BY 1, 2, 3, 4, 5;

CREATE FUNCTION model_usage_of_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO model_days AS m
    VALUES (new.at / 86400000, new.agent_id, new.owner, new.provider, new.model, 1, new.input_tokens, new.output_tokens,
            coalesce(new.cost_usd, 0), coalesce(new.saved_usd, 0), new.first_part_ms, new.whole_ms)
    ON CONFLICT (day, agent_id, owner, provider, model) DO UPDATE SET
        steps = m.steps + 1,
        input_tokens = m.input_tokens + excluded.input_tokens,
        output_tokens = m.output_tokens + excluded.output_tokens,
        cost_usd = m.cost_usd + excluded.cost_usd,
        saved_usd = m.saved_usd + excluded.saved_usd,
        first_part_ms = m.first_part_ms + excluded.first_part_ms,
        whole_ms = m.whole_ms + excluded.whole_ms;
    RETURN NULL;
END
$$;
CREATE TRIGGER model_usage_of_step AFTER INSERT ON steps FOR EACH ROW EXECUTE FUNCTION model_usage_of_step();
