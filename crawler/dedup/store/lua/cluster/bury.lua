-- Forgets URLs of this shard. Pages that were their copies are decided anew when they come again.
--
-- ARGV  see shard.lua; for each URL: 1 to forget the page only if it is not a copy, else 0 (1 byte),
--       its table key (4), the URL
--
-- Returns for each URL '' if it was never seen, or is a copy that stays; otherwise the page's local
-- number (4) and, if it was kept, the result of keep_no_more in attempts.lua.

write_if_full()
redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

local function forget(item)
  local meta = to_forget(item)
  return meta and struct.pack('>I4', meta.id) .. bury(meta) or ''
end

return saving(each, forget)
