-- Forgets URLs of this shard. Pages that were their copies are decided anew when they come again.
--
-- ARGV  see shard.lua; for each URL: 1 if only a page that is no copy is to be forgotten, else 0 (1
--       byte), its table key (4), the URL
--
-- Returns for each URL '' if it was never seen, or is a copy that is to stay, or the page's local
-- number (4) and, if it was kept, what keep_no_more in attempts.lua says of it.

write_if_full()
redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()

local function forget(item)
  local meta = to_forget(item)
  return meta and struct.pack('>I4', meta.id) .. bury(meta) or ''
end

return saving(each, forget)
