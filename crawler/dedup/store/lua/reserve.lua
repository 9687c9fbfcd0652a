-- Reserves the name of an index that is to be made: whoever opens it is refused until finish.lua.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  what is being done, as store/parameters.py has it
--
-- Returns names and values of the parameters that are there, and then nothing is changed; none if the
-- name is reserved now.

local found = redis.call('HGETALL', KEYS[1])
if #found == 0 then redis.call('HSET', KEYS[1], 'unfinished', ARGV[1]) end
return found
