-- Checks pages against the index and keeps those that are no duplicates: one atomic step.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  now, in seconds since 1970
-- ARGV[3]  threshold, 0 to 1
-- ARGV[4]  bits of an odd sketch
-- then for each page nine arguments
--   url, its host, its 4-byte table key
--   token: 4 bytes made anew for each check; the same token again is the same check tried again,
--     and gets the same answer without being counted twice
--   number of words; exact: 16-byte hash of the normalised text
--   number of distinct shingles, 0 for a text too short for one
--   band keys, 4 bytes each
--   odd sketches: of each level that a duplicate could have, the page's own first:
--     level (1 byte), sampled shingles (2 bytes), the sketch
--
-- Returns for each page {kind, standing, id, duplicate's URL, odd bits, sampled shingles of the
-- page, of the duplicate, their level}: kind and standing are letters (KINDS), id is the number of
-- the kept page that stands for this one; the URL is '' and the rest tells nothing where the page
-- is no copy.

local MAX_VERIFIED = 24 -- candidates compared with one page, those that meet in most bands first

-- Any server that cannot write (full, read-only, without its disk) fails here, before anything
-- has been changed.
redis.call('HINCRBY', STATE, 'exchanges', 1)
if redis.call('HGET', KEYS[1], 'digest') ~= ARGV[1] then
  return redis.error_reply('PARAMETERS the index is gone or has other parameters')
end
local now, threshold, bits = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local odd_size = bits / 8
local KINDS = {u = 'unique', e = 'exact', n = 'near', s = 'short', ['='] = 'unchanged',
  ['!'] = 'updated'}

-- Ones in the exclusive or of two strings: lanes of bytes are summed in one 32-bit word at a time,
-- at most 31 words before a lane could overflow.
local function differing_bits(a, b)
  local bxor, band, rshift = bit.bxor, bit.band, bit.rshift
  local total, lanes, words = 0, 0, 0
  for i = 1, #a, 4 do
    local x = bxor((struct.unpack('>I4', a, i)), (struct.unpack('>I4', b, i)))
    x = band(x, 0x55555555) + band(rshift(x, 1), 0x55555555)
    x = band(x, 0x33333333) + band(rshift(x, 2), 0x33333333)
    lanes = lanes + band(x, 0x0f0f0f0f) + band(rshift(x, 4), 0x0f0f0f0f)
    words = words + 1
    if words == 31 or i + 4 > #a then
      total = total + band(lanes, 255) + band(rshift(lanes, 8), 255)
        + band(rshift(lanes, 16), 255) + band(rshift(lanes, 24), 255)
      lanes, words = 0, 0
    end
  end
  return total
end

-- Resemblance of two sets of `a` and `b` members whose odd sketches differ in `odd` bits
-- (Mitzenmacher, Pagh, Pham 2014, section 3.1).
local function resemblance(odd, a, b)
  if 2 * odd >= bits then return 0 end
  local difference = math.log(1 - 2 * odd / bits) / math.log(1 - 2 / bits)
  return math.max(0, (a + b - difference) / (a + b + difference))
end

local function sketch_at(page, level)
  for at = 1, #page.odd, odd_size + 3 do
    if string.byte(page.odd, at) == level then
      return struct.unpack('>I2', page.odd, at + 1), string.sub(page.odd, at + 3, at + 2 + odd_size)
    end
  end
  return nil
end

local function exact_copy(page)
  page.exact_place = {find('exact', 'exact', string.sub(page.exact, 1, 4))}
  local ids = page.exact_place[1]
  if not ids then return nil end
  for id in string.gmatch(ids, '%d+') do
    local meta = read_meta(tonumber(id))
    if meta and meta.exact == page.exact then return meta end
  end
  return nil
end

local function candidates(page)
  local hits, ids = {}, {}
  page.band_places = {}
  for i, name in ipairs(page.names) do
    local found, hash, field = find('band', name, string.sub(page.bands, i * 4 - 3, i * 4))
    page.band_places[i] = {found, hash, field}
    if found then
      for id in string.gmatch(found, '%d+') do
        id = tonumber(id)
        if not hits[id] then
          hits[id] = 0
          ids[#ids + 1] = id
        end
        hits[id] = hits[id] + 1
      end
    end
  end
  table.sort(ids, function(x, y) return hits[x] > hits[y] or hits[x] == hits[y] and x < y end)
  return ids
end

local function near_copy(page)
  local best, best_similarity = nil, threshold
  local ids = candidates(page)
  for i = 1, math.min(#ids, MAX_VERIFIED) do
    local meta = read_meta(ids[i])
    local sampled, sketch
    if meta then sampled, sketch = sketch_at(page, meta.level) end
    if sketch then -- a page whose size has no level in common is no near-duplicate
      local odd = differing_bits(sketch, string.sub(read_sketch(meta.id), -odd_size))
      local similarity = resemblance(odd, sampled, meta.sampled)
      if similarity >= best_similarity and (similarity > best_similarity or not best) then
        best, best_similarity = meta, similarity
        best.odd_bits, best.other_sampled = odd, sampled
      end
    end
  end
  return best, best_similarity
end

local function reply(meta)
  local rep = meta.rep
  return {meta.last, meta.standing, rep or meta.id, rep and read_url(rep) or '',
    meta.odd_bits or 0, meta.sampled, meta.rep_sampled or 0, meta.level}
end

local function count(page, meta, similarity)
  local kind = KINDS[meta.last]
  redis.call('HINCRBY', PREFIX .. 'stats', kind, '1')
  redis.call('HINCRBY', PREFIX .. 'hosts', page.host .. ' ' .. kind, '1')
  if meta.last == 'n' then
    redis.call('HINCRBY', PREFIX .. 'histogram', string.format('%.2f', math.floor(similarity * 100) / 100), '1')
  end
end

local function keep(page, meta)
  state.kept = state.kept + 1
  if page.words > 0 then -- a page without any word is like no other
    add(meta.id, unpack(page.exact_place, 1, 3))
    grow('exact', {'exact'})
  end
  if page.shingles > 0 then
    write_sketch(meta.id, page.bands .. string.sub(page.odd, 4, 3 + odd_size))
    for _, place in ipairs(page.band_places) do add(meta.id, unpack(place, 1, 3)) end
    grow('band', page.names)
  end
end

local function decide(page, known, same_text)
  local meta = {id = state.next, first_seen = known and known.first_seen or now, last_seen = now,
    token = page.token, words = page.words, exact = page.exact, level = 0, sampled = 0}
  state.next = state.next + 1
  if page.shingles > 0 then
    meta.level, meta.sampled = string.byte(page.odd, 1), (struct.unpack('>I2', page.odd, 2))
  end
  local similarity = 1
  local original = page.words > 0 and exact_copy(page) or nil
  if original then
    meta.standing, meta.odd_bits = 'e', 0
    meta.rep_sampled = original.sampled
  elseif page.shingles > 0 then
    original, similarity = near_copy(page)
    if original then
      meta.standing, meta.odd_bits, meta.rep_sampled = 'n', original.odd_bits, original.sampled
      meta.level, meta.sampled = original.level, original.other_sampled
    end
  end
  if original then
    meta.rep = original.id
    meta.last = same_text and '=' or meta.standing
  else
    meta.standing = page.shingles > 0 and 'u' or 's'
    meta.last = known and '!' or meta.standing
    keep(page, meta)
  end
  write_url(meta.id, page.url)
  add(meta.id, find('url', 'url', page.url_key))
  grow('url', {'url'})
  write_meta(meta)
  count(page, meta, similarity)
  return reply(meta)
end

local function check(page)
  local id = find_url(page.url, page.url_key)
  local meta = id and read_meta(id)
  if not meta then return decide(page, nil, false) end
  local same_text = meta.exact == page.exact
  if same_text and meta.token == page.token then return reply(meta) end
  -- A copy whose original is no longer kept has to be decided anew.
  if same_text and (not meta.rep or read_meta(meta.rep)) then
    meta.last, meta.last_seen, meta.token = '=', now, page.token
    write_meta(meta)
    count(page, meta)
    return reply(meta)
  end
  release(meta, page.url_key, odd_size)
  return decide(page, meta, same_text)
end

load_state()
local replies, names = {}, nil
for i = 5, #ARGV, 9 do
  local page = {url = ARGV[i], host = ARGV[i + 1], url_key = ARGV[i + 2], token = ARGV[i + 3],
    words = tonumber(ARGV[i + 4]), exact = ARGV[i + 5], shingles = tonumber(ARGV[i + 6]),
    bands = ARGV[i + 7], odd = ARGV[i + 8]}
  names = names or #page.bands > 0 and band_names(page.bands)
  page.names = #page.bands > 0 and names or {}
  replies[#replies + 1] = check(page)
end
save_state()
return replies
