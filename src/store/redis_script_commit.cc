#include "store/redis_scripts.h"

namespace hookonce::redis_lua {

// Arguments: names of destinations; the shapes that events of the batch have in common; four arguments an event: its
// head (shape's place, size of the arrival, id, body hash, keys), `s` without seq and time, headers, body; then the
// settlements. Answer: per event verdict, id, time of acceptance, same body, new delivery, lease, reply, another key
// than the event's own, of a duplicate its event's `s`, and the lease's new items; 3 bytes a settlement (taken, state
// of the event, whether it freed the next one of its line).
//
// Most events are plain: nobody holds their keys, no line, no lease, no batch. They pass by the general path and are
// written in the order in which they came; for the general path they are as if read from the server.
const std::string_view kCommit = R"lua(
local VERDICT_ACCEPTED, VERDICT_DUPLICATE, VERDICT_REARMED = 0, 1, 2
local NEXT_DELIVERED, NEXT_RETRY, NEXT_DEAD, NEXT_RELEASE = 0, 1, 2, 3
local OUTCOME_UNKNOWN = 2
local ARRIVALS_MAX = 100
local OTHER_KEY = 2  -- beside 1 for the same body, in a duplicate's arrival
local byte, part = string.byte, string.sub

local destinations = arguments()
local now_bytes = pack('>i8', now)

local shapes = {}
for i = 1, number() do
  local shape = { source = argument(), each = argument() == '1', rearm = argument() == '1', window = number(),
    first_lease = number(), destinations = {}, events = 0, by_seq = {}, by_time = {} }
  shape.t = tag(shape.source)
  shape.plain = not shape.first_lease and not shape.each
  local places, deliveries, known = argument(), {}, {}
  for at = 1, #places, 3 do
    local place, ordered = parse('>HB', places, at)
    local name = destinations[place]
    if not known[name] then
      known[name] = true
      shape.destinations[#shape.destinations + 1] = { name = name, ordered = ordered == 1 }
      shape.plain = shape.plain and ordered == 0
      deliveries[#deliveries + 1] = new_delivery(name)
    end
  end
  shape.d = deliveries_text(deliveries)
  shape.times = now_bytes .. pack('>i8', now + shape.window)
  shape.accepted = now_bytes .. pack('BB', 1, one_if(#deliveries > 0)) .. string.rep('\0', 17)  -- no lease, no reply; its own key, no event before it, no items
  shapes[i] = shape
end

local HEAD = 38  -- bytes of a head before the keys
local count_events = number()
local first_argument = argument_at
argument_at = first_argument + 4 * count_events
local ids, wanted, fixed_texts = {}, {}, {}  -- by the event's place: its key; names of dedup keys; `s` of a plain one

local function head_of(i)
  return ARGV[first_argument + 4 * i - 3]
end
local function shape_of(head)
  local high, low = byte(head, 1, 2)
  return shapes[high * 256 + low]
end

for i = 1, count_events do
  local head = head_of(i)
  local t = shape_of(head).t
  local key = t .. 'e:' .. part(head, 7, 22)
  if events[key] == false then return redis.error_reply('HKEXISTS an event id comes twice in one batch') end
  events[key] = false
  ids[i] = key
  for at = HEAD + 1, #head, 16 do wanted[#wanted + 1] = t .. 'k:' .. part(head, at, at + 15) end
end
for at = 1, #ids, PART do
  if call('EXISTS', spread(ids, at, min(at + PART - 1, #ids))) > 0 then
    return redis.error_reply('HKEXISTS an event id of this batch exists')
  end
end

local held = {}  -- by the key's name, as text until somebody asks; as it will be when this run has written
local values = fetch('MGET', wanted)
for i, key in ipairs(wanted) do
  if values[i] then held[key] = values[i] end
end
local function holder_of(name)
  local holder = held[name]
  if type(holder) == 'string' then
    holder = read_holder(holder)
    held[name] = holder
  end
  return holder
end

local last_seq = tonumber(call('GET', prefix .. 'seq') or '0')
local seq = last_seq
local taken = {}    -- names of keys whose holder is another one afterwards
local earlier = {}  -- by the key's name: ZADD arguments of those that held it before
local lasting = {}  -- MSET arguments
local new_sources = {}

local function arrival_of(i)
  local head, fixed = head_of(i), ARGV[first_argument + 4 * i - 2]
  local shape, size = shape_of(head), parse('>I4', head, 3)
  return { shape = shape, t = shape.t, source = shape.source, each = shape.each, rearm = shape.rearm,
    window = shape.window, first_lease = shape.first_lease, id = part(head, 7, 22), body_hash = part(head, 23, HEAD),
    keys = part(head, HEAD + 1), fixed = fixed, arrival = part(fixed, #fixed - size + 1),
    headers = ARGV[first_argument + 4 * i - 1], body = ARGV[first_argument + 4 * i] }
end

-- The answer, where the event is a plain one.
local first_wanted = 1
local function accept_plain(i)
  local head = head_of(i)
  local shape = shape_of(head)
  local first, last = first_wanted, first_wanted + (#head - HEAD) / 16 - 1
  first_wanted = last + 1
  if not shape.plain then return end
  for at = first, last do
    if held[wanted[at]] then return end
  end
  seq = seq + 1
  local place, id = pack('>i8', seq), part(head, 7, 22)
  if first <= last then
    local holder = place .. shape.times .. part(head, 7, HEAD)
    local n = #lasting
    for at = first, last do
      local name = wanted[at]
      held[name] = holder
      lasting[n + 1], lasting[n + 2] = name, holder
      n = n + 2
    end
  end
  fixed_texts[i] = place .. now_bytes .. ARGV[first_argument + 4 * i - 2]
  events[ids[i]] = i
  local n = 2 * shape.events
  shape.events = shape.events + 1
  shape.by_seq[n + 1], shape.by_seq[n + 2] = string.format('%.0f', seq), id
  shape.by_time[n + 1], shape.by_time[n + 2] = now_text, place .. id
  return '\0' .. id .. shape.accepted
end

function thaw(i)
  local shape = shape_of(head_of(i))
  return { t = shape.t, id = part(head_of(i), 7, 22), key = ids[i], seq = parse('>i8', fixed_texts[i]), received = now,
    deliveries = read_deliveries(shape.d), fixed = fixed_texts[i], duplicates = 0, set = {}, drop = {}, fresh = false }
end

local function check_plain()
  for _, shape in ipairs(shapes) do
    if shape.events > 0 then
      call('ZCARD', shape.t .. 'i')
      call('ZCARD', shape.t .. (#shape.destinations > 0 and 'o' or 'c'))
      for _, d in ipairs(shape.destinations) do call('ZCARD', shape.t .. 'q:' .. d.name) end
      call('SCARD', shape.t .. 'Q')
    end
  end
end

local function write_plain()
  for i = 1, count_events do
    local fixed = fixed_texts[i]
    if fixed then
      local at = first_argument + 4 * i
      call('HSET', ids[i], 's', fixed, 'h', ARGV[at - 1], 'b', ARGV[at], 'd', shape_of(ARGV[at - 3]).d)
    end
  end
  for _, shape in ipairs(shapes) do
    local t = shape.t
    if shape.events > 0 then
      send('ZADD', t .. 'i', shape.by_seq)
      for _, d in ipairs(shape.destinations) do
        send('ZADD', t .. 'q:' .. d.name, shape.by_time)
        call('SADD', t .. 'Q', d.name)
      end
      if #shape.destinations > 0 then
        send('ZADD', t .. 'o', shape.by_seq)
      else
        for at = 1, 2 * shape.events, 2 do shape.by_seq[at] = now_text end
        send('ZADD', t .. 'c', shape.by_seq)
      end
      new_sources[shape.source] = true
    end
  end
end

local function note_earlier(name, holder_seq, id)
  earlier[name] = earlier[name] or {}
  local list = earlier[name]
  list[#list + 1] = holder_seq
  list[#list + 1] = id
end

-- The keys that `holder` gets; who loses one stays findable by it while its event is here.
local function give(a, holder, missing)
  for _, key in ipairs(missing) do
    local name = a.t .. 'k:' .. key
    local before = holder_of(name)
    if before and before.seq ~= holder.seq and event_of(a.t, before.id) then
      note_earlier(a.t .. 'l:' .. key, before.seq, before.id)
    end
    held[name] = holder
    taken[name] = { t = a.t, key = key }
  end
end

local function insert(a, new_items)
  local event = { t = a.t, id = a.id, key = a.t .. 'e:' .. a.id, seq = seq, received = now, deliveries = {},
    duplicates = 0, drop = {}, fresh = true, changed = false, moved = false, fixed = false,
    set = { s = pack('>i8i8', seq, now) .. a.fixed, h = a.headers, b = a.body, i = new_items } }
  event.fixed = event.set.s
  for i, destination in ipairs(a.shape.destinations) do
    local d = new_delivery(destination.name)
    event.deliveries[i] = d
    if destination.ordered then join_line(event, d) end
  end
  events[event.key] = event
  move(event)
  new_sources[a.source] = true
  if a.first_lease and not is_paused(event.deliveries[1].name) then
    return { VERDICT_ACCEPTED, a.id, now, 1, 0, take_lease(event.deliveries[1], a.first_lease), nil, nil, nil, new_items }
  end
  return { VERDICT_ACCEPTED, a.id, now, 1, one_if(#event.deliveries > 0) }
end

-- The dedup key as shown, from what redis_codec.cc packs; in `s` that stands behind seq and the time of acceptance.
local function own_key(fixed, at)
  local keys, type, is_there, key = parse('>I4c0I4c0BI4c0', fixed, at)
  return is_there == 1 and key
end

local function reply_of(event)
  return event.set.r or (not event.fresh and call('HGET', event.key, 'r')) or nil
end

local function count_duplicate(a, holder)
  local facts = { VERDICT_DUPLICATE, holder.id, holder.first, one_if(holder.body == a.body_hash), 0 }
  local event = event_of(a.t, holder.id)
  if not event then return facts end  -- pruned before its key's window was over
  for _, d in ipairs(event.deliveries) do
    if a.rearm and can_rearm(d) then
      arm(d)
      move(event)
      facts[1], facts[5] = VERDICT_REARMED, 1
    end
  end
  if a.first_lease then facts[7] = reply_of(event) end
  facts[8], facts[9] = one_if(own_key(event.fixed, 17) ~= own_key(a.fixed, 1)), event.fixed
  change(event)
  event.duplicates = event.duplicates + 1
  event.set.n = event.duplicates
  if event.duplicates < ARRIVALS_MAX then
    event.set['a' .. event.duplicates] = pack('BB', facts[1], facts[4] + facts[8] * OTHER_KEY) .. a.arrival
  end
  return facts
end

-- The indexes of those of a batch's items that have one of `missing`; an item that repeats another one's is not new.
-- The event keeps their keys alone: the others are not its own.
local function new_items_of(a, missing)
  local left, items, keys = {}, {}, {}
  for _, key in ipairs(missing) do left[key] = true end
  for at = 1, #a.keys, 16 do
    local key = string.sub(a.keys, at, at + 15)
    if left[key] then
      items[#items + 1] = (at - 1) / 16
      keys[#keys + 1] = key
      left[key] = nil
    end
  end
  local own = table.concat(keys)
  a.fixed = pack('>I4c0', #own, own) .. string.sub(a.fixed, 5 + #a.keys)
  return table.concat(items, ',')
end

local function accept(a)
  local oldest, missing = nil, {}
  for at = 1, #a.keys, 16 do
    local key = string.sub(a.keys, at, at + 15)
    local holder = holder_of(a.t .. 'k:' .. key)
    if not holder or holder.expires <= now then
      missing[#missing + 1] = key
    elseif not oldest or holder.seq < oldest.seq then
      oldest = holder
    end
  end
  if oldest and not (a.each and #missing > 0) then
    if not a.each and #missing > 0 then
      give(a, oldest, missing)
      local event = event_of(a.t, oldest.id)
      if event then
        change(event)
        event.joined = (event.joined or '') .. table.concat(missing)
      end
    end
    return count_duplicate(a, oldest)
  end
  seq = seq + 1
  give(a, { seq = seq, first = now, expires = now + a.window, id = a.id, body = a.body_hash }, missing)
  return insert(a, a.each and new_items_of(a, missing) or nil)
end

local function take(event, d, attempt, next_state, delay, text)
  local in_flight = d.state == IN_FLIGHT
  d.unsettled = 0
  if next_state == NEXT_DELIVERED then
    d.state, d.delivered, d.ended = DELIVERED, now, now
  elseif in_flight and next_state == NEXT_DEAD then
    d.state, d.ended = DEAD, now
  elseif in_flight then
    if next_state == NEXT_RELEASE then d.counted = max(0, d.counted - 1) end
    d.state, d.due = PENDING, now + delay
  end
  record_attempt(event, d.name, attempt, text)
  move(event)
end

-- As had_settled() of delivery_record.h.
local function had_settled(d, attempt, next_state)
  if attempt ~= d.attempt or d.unsettled == 1 then return false end
  if next_state == NEXT_DELIVERED then return d.state == DELIVERED end
  if next_state == NEXT_DEAD then return d.state == DEAD end
  return d.state == PENDING
end

local function settle()
  local id, name, attempt = argument(), destinations[number()], number()
  local next_state, delay, skip_dead, text, reply = number(), number(), argument() == '1', argument(), argument()
  local event = find_event(id)
  if not event then return 0, 0, 0 end
  local d = delivery_of(event, name)
  if not d then return 0, event_state(event), 0 end
  if attempt == d.attempt and d.unsettled == 1 then
    take(event, d, attempt, next_state, delay, text)
    if next_state == NEXT_DELIVERED and reply ~= '' and not reply_of(event) then event.set.r = reply end
    local freed = leaves_line(d, skip_dead) and leave_line(event, d)
    return 1, event_state(event), one_if(freed)
  end
  -- A later attempt has replaced it: what is shown as unknown gets its real outcome, and nothing else changes.
  local field = 't:' .. name .. ':' .. attempt
  local shown = event.set[field] or (not event.fresh and call('HGET', event.key, field))
  if shown and string.byte(shown) == OUTCOME_UNKNOWN then
    event.set[field] = text
    change(event)
  end
  return one_if(had_settled(d, attempt, next_state)), event_state(event), 0
end

local function text(value)
  return pack('>I4c0', #(value or ''), value or '')
end

local accepts, settles = {}, {}
for i = 1, count_events do
  local plain = accept_plain(i)
  if plain then
    accepts[i] = plain
  else
    local facts = accept(arrival_of(i))
    accepts[i] = pack('>Bc16i8BB', facts[1], facts[2], facts[3], facts[4], facts[5]) .. text(facts[6]) ..
      text(facts[7]) .. pack('B', facts[8] or 0) .. text(facts[9]) .. text(facts[10])
  end
end
for i = 1, number() do settles[i] = pack('BBB', settle()) end

for _, event in ipairs(changed) do
  if event.joined then event.set.j = (not event.fresh and call('HGET', event.key, 'j') or '') .. event.joined end
end
for name in pairs(earlier) do call('ZCARD', name) end
call('SCARD', prefix .. 'sources')
check_plain()
plan_changes()

if seq > last_seq then call('SET', prefix .. 'seq', string.format('%.0f', seq)) end
for name, key in pairs(taken) do
  local holder = holder_of(name)
  local earlier_name = key.t .. 'l:' .. key.key
  -- A key that joins an event long gone has nobody who would sweep it up.
  if not event_of(key.t, holder.id) and not earlier[earlier_name] and call('EXISTS', earlier_name) == 0 then
    call('SET', name, holder_text(holder), 'PX', expiry_left(holder.expires))
  else
    lasting[#lasting + 1] = name
    lasting[#lasting + 1] = holder_text(holder)
  end
end
for at = 1, #lasting, PART do call('MSET', spread(lasting, at, min(at + PART - 1, #lasting))) end
for name, list in pairs(earlier) do send('ZADD', name, list) end
write_plain()
for source in pairs(new_sources) do call('SADD', prefix .. 'sources', source) end
write_changes()
return { table.concat(accepts), table.concat(settles) }
)lua";

// Arguments: source, rule, rearm, keys. Answer: nothing, or the holder's value.
const std::string_view kFindDuplicate = R"lua(
local t, each, rearm, keys = tag(argument()), argument() == '1', argument() == '1', argument()
local names = {}
for at = 1, #keys, 16 do names[#names + 1] = t .. 'k:' .. string.sub(keys, at, at + 15) end
local values = fetch('MGET', names)
local oldest
for i = 1, #names do
  local holder = values[i] and read_holder(values[i])
  local is_held = holder and holder.expires > now
  if not is_held and each then return false end
  if is_held and (not oldest or holder.seq < oldest.seq) then oldest = holder end
end
if not oldest then return false end
local event = rearm and event_of(t, oldest.id)
if event then
  for _, d in ipairs(event.deliveries) do
    if can_rearm(d) then return false end
  end
end
return holder_text(oldest)
)lua";

}  // namespace hookonce::redis_lua
