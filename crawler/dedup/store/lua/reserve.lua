-- Reserves the name of a future index: clients that open it are refused until finish.lua.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  what is being done, as store/parameters.py has it
--
-- Returns names and values of the existing parameters, and changes nothing if there are any; returns none
-- if the name is now reserved.

local found = redis.call('HGETALL', KEYS[1])
if #found == 0 then redis.call('HSET', KEYS[1], 'unfinished', ARGV[1]) end
return found
