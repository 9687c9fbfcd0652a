-- Reads blocks of records as they are stored; changes nothing.
--
-- KEYS[1]  "{namespace}:params"
-- KEYS[2]  "{namespace}:guard", which never exists: see keys.py
-- ARGV     numbers of blocks; block N holds the records of pages 48 N to 48 N + 47, see records.lua
--
-- Returns one string for each block: for each record in it, its place in the block (1 byte), its
-- number of bytes (4) and the record.

local PREFIX = string.sub(KEYS[1], 1, -7)

local blocks = {}
for i, block in ipairs(ARGV) do
  local parts = {}
  for place, record in ipairs(redis.call('LRANGE', PREFIX .. 'page:' .. block, 0, -1)) do
    if record ~= '' then parts[#parts + 1] = struct.pack('>BI4', place - 1, #record) .. record end
  end
  blocks[i] = table.concat(parts)
end
return blocks
