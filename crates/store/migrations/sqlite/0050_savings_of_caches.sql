-- What the caches of providers have saved, in US dollars, as far as prices are known.
ALTER TABLE steps ADD COLUMN saved_usd REAL;
ALTER TABLE usage_days ADD COLUMN saved_usd REAL NOT NULL DEFAULT 0;

DROP TRIGGER usage_of_step;
CREATE TRIGGER usage_of_step AFTER INSERT ON steps BEGIN
    INSERT INTO usage_days
        (owner, day, agent_id, steps, input_tokens, output_tokens, cost_usd, first_part_ms, whole_ms, saved_usd)
    VALUES (new.owner, new.at / 86400000, new.agent_id, 1, new.input_tokens, new.output_tokens, coalesce(new.cost_usd, 0),
            new.first_part_ms, new.whole_ms, coalesce(new.saved_usd, 0))
    ON CONFLICT DO UPDATE SET
        steps = steps + 1,
        input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cost_usd = cost_usd + excluded.cost_usd,
        first_part_ms = first_part_ms + excluded.first_part_ms,
        whole_ms = whole_ms + excluded.whole_ms,
        saved_usd = saved_usd + excluded.saved_usd;
    UPDATE conversations SET
        tokens = tokens + CAST(new.input_tokens AS REAL) + new.output_tokens,
        cost_usd = cost_usd + coalesce(new.cost_usd, 0)
    WHERE id = new.conversation_id;
END;

-- Sums over many days are read from the index alone.
DROP INDEX usage_days_by_day;
CREATE INDEX usage_days_by_day ON usage_days
    (day, agent_id, owner, messages, failures, steps, input_tokens, output_tokens, cost_usd, first_part_ms, whole_ms,
     saved_usd);
