-- The pages in records: how they differ, are found by URL, leave the tables, and are told to the client.
-- This text is put behind records.lua.

-- The host and port that a URL is counted under, as in identity.host.
local function host_of(url)
  local host = string.match(url, '^%a[%w+.-]*://([^/?#]*)') or ''
  return string.lower(string.sub(string.match(host, '[^@]*$'), 1, 255))
end

-- A page with fewer own fours of words than FEW is told apart by its heading; beside pages of the same host,
-- which share boxes and notes that no template has, a page with fewer than FEW_ON_HOST.
local FEW, FEW_ON_HOST = 12, 16
local LEARNT = 8 -- contents from which a site's template is well known

-- Whether the own content of two pages says that they are no copies, however similar their texts are: their
-- headings differ, and they have few own words, or they share a host whose template is not well known.
-- Where a heading is unknown, or much of both texts is own content, the texts decide. If they are equal, it is
-- enough that one page knows the template: a heading may be another one once that is known.
local function is_distinct(page, meta)
  local own, other = page.own, meta.own or NO_OWN
  local heading, other_heading = string.sub(own, 1, 2), string.sub(other, 1, 2)
  if heading == other_heading or heading == '\0\0' or other_heading == '\0\0' then return false end
  local _, _, words, learnt = byte(own, 1, 4)
  local _, _, other_words, other_learnt = byte(other, 1, 4)
  words = math.min(words, other_words)
  local known_from = page.exact == meta.exact and math.max or math.min
  return words < FEW or (words < FEW_ON_HOST or known_from(learnt, other_learnt) < LEARNT)
    and page.host == host_of(meta.url)
end

-- Whether a page's heading differs from its stored heading, with both templates well known or neither.
local function has_other_heading(page, meta)
  local heading, stored = string.sub(page.own, 1, 2), string.sub(meta.own or NO_OWN, 1, 2)
  return heading ~= stored and heading ~= '\0\0' and stored ~= '\0\0'
    and (byte(page.own, 4) < LEARNT) == (byte(meta.own, 4) < LEARNT)
end

-- Whether own content rests on at least as many contents of the site as the stored own content.
local function knows_more(own, stored)
  return own ~= NO_OWN and byte(own, 4) >= byte(stored or NO_OWN, 4)
end

-- The later of the time `seen` and the record's last_seen, which is later where the worker's clock is
-- behind. With such a clock's time the page would expire at once by the clocks of other workers.
local function later(seen, meta)
  return meta and math.max(seen, meta.last_seen) or seen
end

-- The record of a copy's original, nil if it is no longer kept.
local function original_of(meta, oldest)
  local original = read_record(meta.rep, oldest)
  return original and not original.rep and original or nil
end

-- The record of the page with this URL, nil if there is none; then the results of find for the URL's key.
local function find_url(url, key)
  local ids, name, tag, bucket = find('url', 'url', key)
  for _, id in ipairs(ids or NONE) do
    local meta = read_record(id, 0)
    if meta and meta.url == url then return meta, ids, name, tag, bucket end
  end
  return nil, ids, name, tag, bucket
end

-- Notes since when a page is gone from the web, unless it was seen later; item: this time (4 bytes), the
-- table key of its URL (4), the URL. Returns 1 if the page is now noted as gone, else 0.
local function note_gone(item)
  local since = struct.unpack('>I4', item)
  local meta = find_url(string.sub(item, 9), string.sub(item, 5, 8))
  if not meta then return 0 end
  if not is_gone(meta) and since >= meta.last_seen then
    meta.gone = since
    rewrite_record(meta)
  end
  return is_gone(meta) and 1 or 0
end

-- The record of the page that an argument of forget.lua names, nil if there is none to forget.
local function to_forget(item)
  local meta = find_url(string.sub(item, 6), string.sub(item, 2, 5))
  if meta and meta.rep and byte(item) == 1 then return nil end
  return meta
end

local function erase(id)
  local block, slot = record(id)
  redis.call('LSET', block, slot, '')
  while redis.call('LINDEX', block, -1) == '' do redis.call('RPOP', block) end
end

-- Calls act with each distinct table key of a record's anchors, which may be nil. Equal keys are adjacent.
local function each_anchor(anchors, act)
  local last
  for at = 1, #(anchors or ''), ANCHOR_BYTES do
    local key = string.sub(anchors, at, at + 3)
    if key ~= last then act(key) end
    last = key
  end
end

-- Adds a page to the table of anchors.
local function list_anchors(id, anchors)
  each_anchor(anchors, function(key)
    add(id, find('anchor', 'anchor', key))
    grow('anchor', ANCHORS)
  end)
end

local MAX_OVERLAPPING = 16 -- pages that overlapping returns

-- The kept pages that have some of these table keys of anchors, 4 bytes each; the pages with most keys
-- first. Each is its number, then its record. Leaves out page `own` and pages last seen before `oldest`.
local function overlapping(keys, own, oldest)
  local names, tags, hits, ids, found = {}, {}, {}, {}, {}
  if keys == '' then return found end
  for at = 1, #keys, 4 do
    names[#names + 1], tags[#tags + 1] = locate('anchor', 'anchor', (unpack_at('>I4', keys, at)))
  end
  for i, bucket in ipairs(redis.call('MGET', unpack(names))) do
    for _, id in ipairs(pages_in(bucket or '', tags[i]) or NONE) do
      if not hits[id] and id ~= own then ids[#ids + 1] = id end
      hits[id] = (hits[id] or 0) + 1
    end
  end
  table.sort(ids, function(x, y) return hits[x] > hits[y] or hits[x] == hits[y] and x > y end)
  for i = 1, math.min(#ids, MAX_OVERLAPPING) do
    local block, slot = record(ids[i])
    local packed = redis.call('LINDEX', block, slot)
    if packed and packed ~= '' and not has_expired(packed, oldest) then
      found[#found + 1], found[#found + 2] = ids[i], packed
    end
  end
  return found
end

-- Removes a kept page from all tables but that of URLs, so that no copies find it; odd_size is the bytes
-- of an odd sketch.
local function unlist(meta, odd_size)
  local id = meta.id
  state.kept = state.kept - 1
  if meta.words > 0 then
    remove(id, find('exact', 'exact', string.sub(meta.exact, 1, 4)))
    state['exact.n'] = state['exact.n'] - 1
  end
  local keys = string.sub(meta.sketch, 1, -odd_size - 1)
  if #keys > 0 then
    for i, name in ipairs(band_names(#keys / 4)) do
      remove(id, find('band', name, string.sub(keys, i * 4 - 3, i * 4)))
    end
    state['band.n'] = state['band.n'] - rounds(#keys / 4)
  end
  each_anchor(meta.anchors, function(key)
    remove(id, find('anchor', 'anchor', key))
    state['anchor.n'] = state['anchor.n'] - 1
  end)
end

-- Removes a page from every table, and its record.
local function release(meta, odd_size)
  remove(meta.id, find('url', 'url', meta.url_key))
  state['url.n'] = state['url.n'] - 1
  if not meta.rep then unlist(meta, odd_size) end
  erase(meta.id)
end

-- Calls take_out(meta) to release expired pages. A cursor sweeps the table of URLs, a few steps for each
-- exchange, and passes every page once while a quarter as many pages are checked. It does not sweep the
-- records: numbers are never given twice, so the remaining records lie ever further apart.
local function expire(steps, oldest, take_out)
  for _ = 1, steps do
    local passed, seen = 0, 0
    repeat -- empty buckets cost little: pass many of them
      state.hand = state.hand + 1 < state['url.size'] and state.hand + 1 or 0
      local bucket = redis.call('GET', bucket_name('url', state.hand)) or ''
      for at = TAG, used(bucket) - 1, ENTRY do
        local id = unpack_at('>I4', bucket, at + 1)
        local block, slot = record(id)
        local packed = redis.call('LINDEX', block, slot)
        local meta = has_expired(packed, oldest) and read_record(id, 0)
        if meta then take_out(meta) end
        seen = seen + 1
      end
      passed = passed + 1
    until seen >= STEP or passed == MAX_PASSED or passed == state['url.size']
  end
end

-- The answer about a page, packed for the client: last and standing verdict (a letter each), number of
-- its original, or its own if it is kept (4 bytes), differing bits of the odd sketches of the two (2),
-- sampled shingles of the page (2) and of its original (2), their level (1), flags (1): the sum of the
-- following.
local CANONICAL_KNOWN, REPLACES, GONE, UNCONFIRMED = 1, 2, 4, 8

local function pack_answer(meta, flags)
  return struct.pack('>c1c1I4I2I2I2BB', meta.last, meta.standing, meta.rep or meta.id,
    meta.rep and meta.odd_bits or 0, meta.sampled, meta.rep and meta.rep_sampled or 0, meta.level,
    (flags or 0) + (is_gone(meta) and GONE or 0))
end

-- The same answer, then URLs as fetched: of `named`, the record of the page that this one names as canonical,
-- after its bytes (2; flag CANONICAL_KNOWN); of a copy, the URL of its original; of a page that took another
-- page's place at the last check (flag REPLACES), the other's URL. UNCONFIRMED: the original was last seen
-- before the crawl began.
local function full_answer(meta, crawl, named)
  local flags, canonical, url = named and CANONICAL_KNOWN or 0, named and shown_url(named) or '', ''
  if named then canonical = pack('>I2', #canonical) .. canonical end
  if meta.rep then
    local original = original_of(meta, 0)
    if original and original.last_seen < (crawl or 0) then flags = flags + UNCONFIRMED end
    url = original and shown_url(original) or ''
  elseif (meta.replaces or 0) > 0 and not IS_AGAIN[meta.last] then
    local loser = read_record(meta.replaces, 0)
    flags, url = flags + REPLACES, loser and shown_url(loser) or ''
  end
  return pack_answer(meta, flags) .. canonical .. url
end
