-- Finds the kept pages that may be similar to a text, and their copies; changes nothing.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  exact hash of the text (12 bytes)
-- ARGV[3]  band keys, 4 bytes each
-- ARGV[4]  number of blocks of records, from the first, that are searched for copies; 0 for none
-- ARGV[5]  table keys of the text's anchors, 4 bytes each
--
-- Returns four lists or numbers: the kept pages that have one of these keys; the copies of these pages;
-- the number of the first block that was not searched, 0 if all were; and the pages that share anchors
-- with the text, as overlapping in stored_pages.lua returns them. A page is its number, then its record.

local STANDING, REP = 4, 41 -- positions of these fields in a record, REP only in a copy's

load_state()
local found, is_found = {{}, {}, 0, overlapping(ARGV[5], 0, 0)}, {}

local function note(group, id, packed)
  is_found[pack('>I4', id)] = true
  group[#group + 1] = id
  group[#group + 1] = packed
end

local function note_kept(ids)
  for _, id in ipairs(ids or NONE) do
    local block, slot = record(id)
    local packed = not is_found[pack('>I4', id)] and redis.call('LINDEX', block, slot)
    if packed and packed ~= '' and not IS_COPY[string.sub(packed, STANDING, STANDING)] then
      note(found[1], id, packed)
    end
  end
end

note_kept((find('exact', 'exact', string.sub(ARGV[2], 1, 4))))
for i, name in ipairs(band_names(#ARGV[3] / 4)) do
  note_kept((find('band', name, string.sub(ARGV[3], i * 4 - 3, i * 4))))
end

local blocks, most = math.ceil(state.next / SLOTS), tonumber(ARGV[4])
if most == 0 or #found[1] == 0 then return found end
if blocks > most then found[3] = most end
for number = 0, math.min(blocks, most) - 1 do
  for slot, packed in ipairs(redis.call('LRANGE', PREFIX .. 'page:' .. format('%d', number), 0, -1)) do
    if is_found[string.sub(packed, REP, REP + 3)] and IS_COPY[string.sub(packed, STANDING, STANDING)] then
      note(found[2], number * SLOTS + slot - 1, packed)
    end
  end
end
return found
