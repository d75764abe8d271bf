-- What the caches of providers have saved, in US dollars, as far as prices are known; see migrations/sqlite.
ALTER TABLE steps ADD COLUMN saved_usd DOUBLE PRECISION;
ALTER TABLE usage_days ADD COLUMN saved_usd DOUBLE PRECISION NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION usage_of_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage_days AS u
        (owner, day, agent_id, steps, input_tokens, output_tokens, cost_usd, first_part_ms, whole_ms, saved_usd)
    VALUES (new.owner, new.at / 86400000, new.agent_id, 1, new.input_tokens, new.output_tokens, coalesce(new.cost_usd, 0),
            new.first_part_ms, new.whole_ms, coalesce(new.saved_usd, 0))
    ON CONFLICT (owner, day, agent_id) DO UPDATE SET
        steps = u.steps + 1,
        input_tokens = u.input_tokens + excluded.input_tokens,
        output_tokens = u.output_tokens + excluded.output_tokens,
        cost_usd = u.cost_usd + excluded.cost_usd,
        first_part_ms = u.first_part_ms + excluded.first_part_ms,
        whole_ms = u.whole_ms + excluded.whole_ms,
        saved_usd = u.saved_usd + excluded.saved_usd;
    UPDATE conversations SET
        tokens = tokens + new.input_tokens::double precision + new.output_tokens,
        cost_usd = cost_usd + coalesce(new.cost_usd, 0)
    WHERE id = new.conversation_id;
    RETURN NULL;
END
$$;
