-- Checks pages against the index and keeps those that are no duplicates: one atomic step.
--
-- KEYS[1]  "{namespace}:params"
-- ARGV[1]  digest of the parameters; another one in the index is an error, PARAMETERS
-- ARGV[2]  now, in seconds since 1970
-- ARGV[3]  threshold, 0 to 1
-- ARGV[4]  bits of an odd sketch, or of a simhash
-- ARGV[5]  pages last seen before this time, in seconds since 1970, have expired
-- ARGV[6]  the least number of keys that candidates share; a page with fewer must share all of them
-- ARGV[7]  'sketch': candidates are compared by their odd sketches; 'keys': by the share of the
--          page's keys that they have
-- then one argument for each page, as in pages.lua
--
-- Returns for each page the answer of stored_pages.lua; or, if there is news about its host's template, the
-- answer and the news, as from share_template in pages.lua. For a page with anchors, unless an override
-- keeps it: the answer, the news ('' for none), and the kept pages that share anchors with it, most
-- shared anchors first, each as number and record.

local MAX_VERIFIED = 24 -- candidates compared with one page, the likeliest copies first
-- Candidates in a row that are not similar, after which the less likely ones are skipped. In a family of
-- pages that are not quite similar enough, each page would otherwise be compared with 24, at three times
-- the cost.
local MAX_IN_VAIN = 12
local SLACK = 0.1 -- by which a copy may be less similar than the threshold when it is compared again

-- Any server that cannot write (full, read-only, without its disk) fails here, before anything
-- has been changed.
local counted = redis.pcall('HINCRBY', STATE, 'exchanges', '1')
local now, threshold, bits = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local oldest, min_matches = tonumber(ARGV[5]), tonumber(ARGV[6])
local similarity_of = ARGV[7] == 'keys' and similarity_by_keys or similarity_by_sketches
local odd_size = bits / 8

local function give_back(steps)
  expire(steps, oldest, function(meta) release(meta, odd_size) end)
end

if type(counted) == 'table' then
  if oldest > 0 and string.find(counted.err, 'OOM', 1, true) then
    write_if_full()
    load_state()
    saving(give_back, 1)
  end
  return counted -- the expired pages make room for the next check
end
local overridden = redis.call('EXISTS', OVERRIDES) == 1 -- whether there are overrides

-- The places of a page in the tables: of its exact hash, the first, and of its keys. Each has the name of
-- its bucket, the stored part of the key, the bucket, and, once pages_at was called, the numbers of the
-- pages there.
local function places_of(page, families)
  -- As long as for most pages, because tables that grow are slower.
  local names, tags, n = {0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0}, #families + 1
  names[1], tags[1] = locate('exact', 'exact', (unpack_at('>I4', page.exact)))
  for i, family in ipairs(families) do
    names[i + 1], tags[i + 1] = locate('band', family, (unpack_at('>I4', page.bands, i * 4 - 3)))
  end
  local buckets = redis.call('MGET', unpack(names, 1, n))
  return {n = n, names = names, tags = tags, buckets = buckets, ids = {false, false, false, false, false,
    false, false, false, false}}
end

-- The numbers of the pages at place i.
local function pages_at(places, i)
  local ids = places.ids[i] or pages_in(places.buckets[i] or '', places.tags[i]) or NONE
  places.ids[i] = ids
  return ids
end

-- Adds a kept page to its places, after all of them have been read.
local function list(id, places)
  local is_shared = TABLES and places.n - 1 > TABLES -- then keys of the page may be in one bucket
  for i = 1, places.n do
    local name = places.names[i]
    local bucket = places.buckets[i] or ''
    if is_shared then bucket = redis.call('GET', name) or '' end
    local ids = pages_at(places, i)
    add(id, ids[1] and ids, name, places.tags[i], bucket)
  end
end

-- The numbers of the pages that share a key with the page, the most likely originals first; and by number
-- how many keys. Rare keys count more, because all pages of a family may share most of its keys.
local function candidates(places)
  local hits, weights, ids = {}, {}, {}
  for i = 2, places.n do
    local found = pages_at(places, i)
    for _, id in ipairs(found) do
      if not hits[id] then ids[#ids + 1] = id end
      hits[id], weights[id] = (hits[id] or 0) + 1, (weights[id] or 0) + 1 / #found
    end
  end
  if #ids > 1 then
    table.sort(ids, function(x, y)
      return weights[x] > weights[y] or weights[x] == weights[y] and x < y
    end)
  end
  return ids, hits
end

-- Whether so many matches make a page with so many keys a candidate.
local function are_enough(matches, keys, meta)
  return matches >= math.min(min_matches, keys) or matches >= (#meta.sketch - odd_size) / 4
end

-- Whether a rank is better than another. Bytes are compared, because the order of strings depends on the
-- server's locale.
local function is_better(rank, other)
  if rank == '' or other == '' then return rank ~= '' end
  for i = 1, math.min(#rank, #other) do
    local x, y = byte(rank, i), byte(other, i)
    if x ~= y then return x < y end
  end
  return false
end

-- Whether the page takes the place of a kept page that it copies: if that one is gone, names the page as
-- canonical or has a worse rank, or if the page is preferred. A page with a drop override takes no place.
local function wins(page, original)
  if page.wish == 'drop' then return false end
  if page.preferred or is_gone(original) then return true end
  if original.rank == CHOSEN or page.yields_to == original.url_key then return false end
  return original.canonical == page.url_key or is_better(page.rank, original.rank)
end

-- Whether an override keeps a page that the other would replace: then the two are not copies.
local function is_held(page, original)
  return overridden and not page.preferred and not is_gone(original)
    and redis.call('HGET', OVERRIDES, original.url) == 'keep'
end

-- Puts a similar kept page into its group in `found`: `beaten` if the page takes its place; `contested` if
-- it gives way, because its text may have changed; otherwise it may be the `original`. A confirmed original
-- comes before an unconfirmed one, then the most similar.
local function rank(page, meta, similarity, found)
  if wins(page, meta) then
    if is_held(page, meta) then return end
    if not found.beaten then found.beaten = {} end
    found.beaten[#found.beaten + 1] = meta
  elseif gives_way(meta, page, found.is_kept) then
    if not found.contested then found.contested = {} end
    found.contested[#found.contested + 1] = meta
  else
    local is_confirmed = not is_unconfirmed(meta, page)
    local best = found.original
    if not best or is_confirmed and not found.is_confirmed
      or is_confirmed == found.is_confirmed and similarity > found.similarity then
      found.original, found.similarity, found.is_confirmed = meta, similarity, is_confirmed
    end
  end
end

-- Ranks the kept pages with the same words as a page, which has `sampled` sampled shingles, up to the first
-- confirmed original.
local function find_exact(page, places, sampled, found)
  for _, id in ipairs(pages_at(places, 1)) do
    local meta = read_record(id, oldest)
    if meta and meta.exact == page.exact and meta.url ~= page.url
      and (page.wish == 'drop' or not is_distinct(page, meta)) then
      meta.odd_bits, meta.other_sampled = 0, sampled
      if not found.known then found.known = {} end
      found.known[id] = true
      rank(page, meta, 1, found)
      if found.is_confirmed then return end
    end
  end
end

-- Ranks the kept pages that are similar to a page.
local function find_near(page, places, found)
  local least = page.wish == 'drop' and 0 or threshold -- with a drop override, any similarity will do
  local keys = places.n - 1
  local ids, hits = candidates(places)
  local in_vain = 0
  for i = 1, math.min(#ids, MAX_VERIFIED) do
    if in_vain == MAX_IN_VAIN then break end
    in_vain = in_vain + 1
    local id = ids[i]
    local meta = not (found.known and found.known[id]) and read_record(id, oldest)
    local is_own = meta and meta.url == page.url -- an earlier record whose entry was lost, or left out
    if meta and not is_own and are_enough(hits[id], keys, meta)
      and (page.wish == 'drop' or not is_distinct(page, meta)) then
      local similarity = similarity_of(page, meta, bits, hits[id])
      if similarity and similarity >= least then
        rank(page, meta, similarity, found)
        in_vain = 0
      end
    end
  end
end

-- Level of the page's own odd sketch, and the number of its sampled shingles; 0 and 0 if the page is too
-- short for a sketch.
local function own_sketch(page)
  if #page.bands == 0 then return 0, 0 end
  return string.byte(page.odd, 1), (struct.unpack('>I2', page.odd, 2))
end

-- The similar kept pages, in the groups of rank(), and the page's places. A page without words is similar
-- to no other, and has nil for places. is_kept: whether the page itself is kept so far.
local function compare(page, is_kept, families)
  local found = {beaten = false, contested = false, known = false, is_kept = is_kept, similarity = 0,
    is_confirmed = false, original = false}
  if page.words == 0 then return found, nil end
  local places = places_of(page, families)
  local _, sampled = own_sketch(page)
  find_exact(page, places, sampled, found)
  if #families > 0 and (not found.is_confirmed or page.wish == 'keep') then
    if page.wish == 'keep' then found.original = false end
    find_near(page, places, found)
  end
  return found, places
end

-- Makes a kept page the copy of another that took its place.
local function depose(original, meta, standing)
  unlist(original, odd_size)
  if original.level == BY_KEYS then original.sampled = original.other_sampled end
  original.standing, original.rep, original.rep_sampled = standing, meta.id, original.other_sampled
  original.sketch = ''
  rewrite_record(original)
end

-- Has a page decided anew when it comes again, whatever its text.
local function contest(meta)
  meta.token = CONTESTED
  rewrite_record(meta)
end

-- The decision about a page among the similar kept pages: it is a copy of one, or kept, and may then take
-- the places of others.
local function outcome(page, known, families)
  local found, places = compare(page, known and not known.rep, families)
  if page.wish == 'keep' then found.original = false end
  if found.original or page.wish == 'keep' and not page.preferred then found.beaten = false end
  if found.original or page.wish == 'keep' then found.contested = false end
  return found, places
end

local function copy_record(meta, page, found, again)
  local original = found.original
  meta.standing = original.exact == page.exact and 'e' or 'n'
  meta.odd_bits = original.odd_bits
  if meta.standing == 'n' then meta.level, meta.sampled = original.level, original.other_sampled end
  meta.rep, meta.rep_sampled = original.id, original.sampled
  meta.last = again or meta.standing
end

local function kept_record(meta, page, found, known, again)
  local is_long = #page.bands > 0
  meta.standing = is_long and 'u' or 's'
  meta.last = again or known and '!' or meta.standing
  meta.own = page.own
  if found.beaten then meta.replaces = found.beaten[1].id end
  if is_long then meta.sketch = page.bands .. string.sub(page.odd, 4, 3 + odd_size) end
  meta.anchors = page.more.anchors
end

-- Enters a kept page into the tables, and updates the similar pages: beaten ones become its copies,
-- contested ones are marked.
local function keep(page, meta, found, places, families)
  if places then list(meta.id, places) end
  for _, loser in ipairs(found.beaten or NONE) do
    depose(loser, meta, loser.exact == page.exact and 'e' or 'n')
  end
  for _, other in ipairs(found.contested or NONE) do contest(other) end
  state.kept = state.kept + 1
  if places then grow('exact', EXACT) end
  if #families > 0 then
    local tables = #families == TABLES and families or band_names(TABLES or #families)
    for _ = 1, rounds(#families) do grow('band', tables) end
  end
  list_anchors(meta.id, meta.anchors)
end

-- Decides about a page. known: the earlier record of its URL, already released. before: the verdict if its
-- text and heading are unchanged. number: its earlier number, if its copies stay with it, else a new one.
local function decide(page, known, before, number, url_place, families)
  if page.wish == AGAIN then redis.call('HDEL', OVERRIDES, page.url) end
  local level, sampled = own_sketch(page)
  local meta = {id = number or new_number(bytes_of(page, odd_size)),
    first_seen = known and known.first_seen or page.seen, last_seen = later(page.seen, known),
    token = page.token, url = page.url, url_key = page.url_key, words = page.words,
    exact = page.exact, sketch = '', level = level, sampled = sampled, rank = page.rank}
  if known then meta.gone = still_gone(page, known) end
  if page.yields_to then meta.canonical = page.yields_to end
  local found, places = outcome(page, known, families)
  if found.original then
    copy_record(meta, page, found, known and known.rep and before)
  else
    kept_record(meta, page, found, known, known and not known.rep and before)
  end
  note_fetched(meta, page, known)
  write_record(meta) -- first, because it fails if a key is foreign: entries would have no record
  add(meta.id, unpack(url_place, 1, 4))
  grow('url', URLS)
  if not found.original then keep(page, meta, found, places, families) end
  count(page, meta, found.similarity)
  return meta
end

-- Whether a copy still resembles its original, now that the template of its site is better known. It does
-- if the template is less known now than when its original was checked.
local function is_still_like(page, meta, original)
  local learnt, other_learnt = byte(page.own, 4), byte(original.own, 4)
  if page.wish == 'drop' or page.own == NO_OWN or learnt < LEARNT and other_learnt >= LEARNT then return true end
  if is_distinct(page, original) then return false end
  if meta.standing == 'e' and original.exact == page.exact or ARGV[7] == 'keys' then return true end
  if page.host ~= host_of(original.url) and other_learnt < LEARNT then return true end
  local similarity = similarity_of(page, original, bits)
  return similarity ~= nil and similarity >= threshold - SLACK
end

-- Whether the decision about a page's text still holds. A copy has to be decided anew if its original is no
-- longer kept, is gone from the web, gives way, has a worse rank by now, or no longer resembles it; and if an
-- override says so. A drop override of a kept page takes effect only once a similar kept page exists.
local function stands(page, meta, families)
  if page.wish == AGAIN then return false end
  if not meta.rep then
    if page.wish == 'drop' then return not outcome(page, meta, families).original end
    return is_settled(page, meta, odd_size)
  end
  if page.wish == 'keep' then return false end
  local original = original_of(meta, oldest)
  return original and not is_gone(original) and not wins(page, original)
    and not gives_way(original, page, false)
    and is_still_like(page, meta, original)
end

local function check(page, families)
  local meta, ids, name, tag, bucket = find_url(page.url, page.url_key)
  local place = {ids or false, name, tag, bucket}
  if not meta then return decide(page, nil, nil, nil, place, families) end
  local is_expired, same_text = meta.last_seen < oldest, has_same_text(page, meta, odd_size)
  if not is_expired and same_text and (meta.token == page.token or stands(page, meta, families)) then
    touch(meta, page)
    return meta
  end
  release(meta, odd_size)
  place = {find('url', 'url', page.url_key)}
  if is_expired then return decide(page, nil, nil, nil, place, families) end
  local before = same_text and not has_other_heading(page, meta) and as_before(page, meta)
  return decide(page, meta, before, same_text and not meta.rep and meta.id, place, families)
end

-- The record of the page that the page names as canonical, nil or false if there is none.
local function canonical_of(page)
  local meta = page.more.named and find_url(page.more.named, page.more.named_key)
  return meta and meta.last_seen >= oldest and meta
end

load_state()
local refused = out_of_numbers(#ARGV - 7)
if refused then return refused end
local replies, names_of = {}, {[0] = {}} -- names_of: number of a page's keys -> their tables

local function check_all()
  for i = 8, #ARGV do
    local page = read_page(ARGV[i])
    note_seen(page)
    local keys = #page.bands / 4
    names_of[keys] = names_of[keys] or band_names(keys)
    page.wish = overridden and redis.call('HGET', OVERRIDES, page.url)
    local meta = check(page, names_of[keys])
    local said = full_answer(meta, page.wish ~= 'drop' and page.crawl, canonical_of(page))
    local news = page.more.template and share_template(page.host, page.more.template, page.more.pairs)
    if page.more.anchors and page.wish ~= 'keep' then -- otherwise the override has decided
      replies[#replies + 1] = {said, news or '', overlapping(anchor_keys(page), meta.id, oldest)}
    else
      replies[#replies + 1] = news and {said, news} or said
    end
  end
  if oldest > 0 then give_back(math.ceil((#ARGV - 7) / 8)) end
end

saving(check_all)
return replies
