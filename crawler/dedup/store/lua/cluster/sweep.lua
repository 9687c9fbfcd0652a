-- Frees the memory of expired pages, and lists work that dead workers may have left.
--
-- ARGV  see shard.lua; steps of the search for expired pages (2 bytes); 0: end attempts whose
--       time has run out, and list claims too
--
-- Returns for each argument two lists: of buried pages, local number and then the result of
-- keep_no_more in attempts.lua; of claims, their name and then the argument of claim.lua.

write_if_full()
redis.call('HINCRBY', STATE, 'exchanges', '1')
load_state()
local clock = milliseconds()

local function sweep(item)
  local steps = struct.unpack('>I2', item)
  if steps > 0 then
    expire(steps, oldest, bury)
    return {redis.call('HGETALL', BURIED), {}}
  end
  for _, field in ipairs(redis.call('HKEYS', ATTEMPTS)) do
    local attempt = tonumber(field) and read_attempt(tonumber(field))
    if attempt and is_over(attempt, clock) then end_attempt(attempt) end
  end
  return {redis.call('HGETALL', BURIED), redis.call('HGETALL', CLAIMS)}
end

return saving(each, sweep)
