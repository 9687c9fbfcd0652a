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

local SLACK = 0.1 -- by which a copy may be less similar than the threshold when it is compared again

-- Any server that cannot write (full, read-only, without its disk) fails here, before anything
-- has been changed.
local counted = redis.pcall('HINCRBY', STATE, 'exchanges', '1')

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

-- Makes a kept page the copy of another that took its place.
local function depose(original, meta, standing)
  unlist(original, odd_size)
  if original.level == BY_KEYS then original.sampled = original.other_sampled end
  original.standing, original.rep, original.rep_sampled = standing, meta.id, original.other_sampled
  original.sketch = ''
  rewrite_record(original)
end

-- The decision about a page among the similar kept pages: it is a copy of one, or kept, and may then take
-- the places of others.
local function outcome(page, known, families)
  local found, places = compare(page, known and not known.rep, families)
  if page.override == 'keep' then found.original = false end
  if found.original or page.override == 'keep' and not page.preferred then found.beaten = false end
  if found.original or page.override == 'keep' then found.contested = false end
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
  if page.override == AGAIN then redis.call('HDEL', OVERRIDES, page.url) end
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
  if page.override == 'drop' or page.own == NO_OWN or learnt < LEARNT and other_learnt >= LEARNT then return true end
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
  if page.override == AGAIN then return false end
  if not meta.rep then
    if page.override == 'drop' then return not outcome(page, meta, families).original end
    return is_settled(page, meta, odd_size)
  end
  if page.override == 'keep' then return false end
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
  local is_done = meta.token == page.token and not meta.rep -- of a copy, the original may be lost meanwhile
  if not is_expired and same_text and (is_done or stands(page, meta, families)) then
    touch(meta, page)
    return meta
  end
  release(meta, odd_size)
  place = {find('url', 'url', page.url_key)}
  if is_expired then return decide(page, nil, nil, nil, place, families) end
  local before
  if same_text and not has_other_heading(page, meta) then before, page.token = as_before(page, meta) end
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
    page.override = overridden and redis.call('HGET', OVERRIDES, page.url)
    local meta = check(page, names_of[keys])
    local said = full_answer(meta, page.override ~= 'drop' and page.crawl, canonical_of(page))
    local news = page.more.template and share_template(page.host, page.more.template, page.more.pairs)
    if page.more.anchors and page.override ~= 'keep' then -- otherwise the override has decided
      replies[#replies + 1] = {said, news or '', overlapping(anchor_keys(page), meta.id, oldest)}
    else
      replies[#replies + 1] = news and {said, news} or said
    end
  end
  if oldest > 0 then give_back(math.ceil((#ARGV - 7) / 8)) end
end

saving(check_all)
return replies
