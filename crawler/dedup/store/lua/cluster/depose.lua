-- Makes kept pages of this shard copies of pages that took their places.
--
-- ARGV  see shard.lua; for each page: local number (4 bytes), exact hash (12), its standing as a
--       copy (1, a letter: e exact, n near), global number of the other page (4), bits in which the
--       odd sketches differ (2), their level (1), sampled shingles of the page (2) and of the other (2)
--
-- Returns for each page its local number (4) and the result of keep_no_more in attempts.lua; '' if that
-- is empty, or if the page is no longer kept with this text: then nothing is done.

redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

local function depose(item)
  local id, exact, standing, rep, odd_bits, level, sampled, rep_sampled =
    struct.unpack('>I4c12c1I4I2BI2I2', item)
  local meta = read_record(id, 0)
  if not meta or meta.rep or meta.exact ~= exact then return '' end
  local rest = keep_no_more(meta)
  meta.standing, meta.rep, meta.odd_bits, meta.rep_sampled = standing, rep, odd_bits, rep_sampled
  meta.level, meta.sampled = level, sampled
  meta.sketch = ''
  rewrite_record(meta)
  return rest ~= '' and struct.pack('>I4', id) .. rest or ''
end

return saving(each, depose)
