-- Reads blocks of records as they are stored; changes nothing.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV     numbers of blocks; block N holds the records of pages 16 N to 16 N + 15, see layout.lua
--
-- Returns for each block one string: of each field its number (1 byte), the bytes of its value (2)
-- and the value. A URL that stands in a key of its own is put in its place.

local PREFIX = string.sub(KEYS[1], 1, -7)
local META, URL = 0, 1

local function packed(field, value)
  return struct.pack('>BI2', field, #value) .. value
end

local blocks = {}
for i, block in ipairs(ARGV) do
  local fields = redis.call('HGETALL', PREFIX .. 'page:' .. block)
  local parts, has_meta, has_url = {}, {}, {}
  for j = 1, #fields, 2 do
    local field = tonumber(fields[j])
    local slot, part = math.floor(field / 16), field % 16
    if part == META then has_meta[slot] = true elseif part == URL then has_url[slot] = true end
    parts[#parts + 1] = packed(field, fields[j + 1])
  end
  for slot in pairs(has_meta) do
    if not has_url[slot] then
      local url = redis.call('GET', string.format('%slong:%d', PREFIX, block * 16 + slot))
      if url then parts[#parts + 1] = packed(slot * 16 + URL, url) end
    end
  end
  blocks[i] = table.concat(parts)
end
return blocks
