#include "store/redis_scripts.h"

namespace hookonce::redis_lua {

// Arguments: names of the sources and destinations that the batch speaks of, then the events, then the settlements.
// Answer: per event verdict, id, time of acceptance, same body, new delivery, lease and reply; 3 bytes a settlement
// (taken, state of the event, whether it freed the next one of its line).
const std::string_view kCommit = R"lua(
local VERDICT_ACCEPTED, VERDICT_DUPLICATE, VERDICT_REARMED = 0, 1, 2
local NEXT_DELIVERED, NEXT_RETRY, NEXT_DEAD, NEXT_RELEASE = 0, 1, 2, 3
local OUTCOME_UNKNOWN = 2
local ARRIVALS_MAX = 100

local sources, destinations = arguments(), arguments()

local arrivals = {}
local wanted, ids = {}, {}
for i = 1, number() do
  local source = sources[number()]
  local a = { source = source, t = tag(source), id = argument(), each = argument() == '1', rearm = argument() == '1',
    keys = argument(), window = number(), body_hash = argument(), fixed = argument(), arrival = argument(),
    headers = argument(), body = argument(), destinations = argument(), first_lease = number() }
  for at = 1, #a.keys, 16 do wanted[#wanted + 1] = a.t .. 'k:' .. string.sub(a.keys, at, at + 15) end
  ids[i] = a.t .. 'e:' .. a.id
  if events[a.t .. a.id] == false then return redis.error_reply('HKEXISTS an event id comes twice in one batch') end
  events[a.t .. a.id] = false
  arrivals[i] = a
end
for at = 1, #ids, PART do
  if call('EXISTS', spread(ids, at, min(at + PART - 1, #ids))) > 0 then
    return redis.error_reply('HKEXISTS an event id of this batch exists')
  end
end

local held = {}  -- by the key's name; as it will be when this run has written
local values = fetch('MGET', wanted)
for i, key in ipairs(wanted) do
  if values[i] then held[key] = read_holder(values[i]) end
end

local last_seq = tonumber(call('GET', prefix .. 'seq') or '0')
local seq = last_seq
local taken = {}    -- names of keys whose holder is another one afterwards
local earlier = {}  -- by the key's name: ZADD arguments of those that held it before, or are shown with it
local new_sources = {}

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
    local before = held[name]
    if before and before.seq ~= holder.seq and event_of(a.t, before.id) then
      note_earlier(a.t .. 'l:' .. key, before.seq, before.id)
    end
    held[name] = holder
    taken[name] = { t = a.t, key = key }
  end
end

local function insert(a)
  local event = { t = a.t, id = a.id, key = a.t .. 'e:' .. a.id, seq = seq, received = now, deliveries = {},
    duplicates = 0, drop = {}, fresh = true, changed = false, moved = false, fixed = false,
    set = { s = pack('>i8i8', seq, now) .. a.fixed .. a.arrival, h = a.headers, b = a.body } }
  event.fixed = event.set.s
  for at = 1, #a.destinations, 3 do
    local place, ordered = parse('>HB', a.destinations, at)
    local name = destinations[place]
    if not delivery_of(event, name) then
      local d = new_delivery(name)
      event.deliveries[#event.deliveries + 1] = d
      if ordered == 1 then join_line(event, d) end
    end
  end
  events[a.t .. a.id] = event
  move(event)
  new_sources[a.source] = true
  if a.first_lease then return { VERDICT_ACCEPTED, a.id, now, 1, 0, take_lease(event.deliveries[1], a.first_lease) } end
  return { VERDICT_ACCEPTED, a.id, now, 1, one_if(#event.deliveries > 0) }
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
  change(event)
  event.duplicates = event.duplicates + 1
  event.set.n = event.duplicates
  if event.duplicates < ARRIVALS_MAX then
    event.set['a' .. event.duplicates] = pack('BB', facts[1], facts[4]) .. a.arrival
  end
  return facts
end

local function accept(a)
  local oldest, missing, present = nil, {}, {}
  for at = 1, #a.keys, 16 do
    local key = string.sub(a.keys, at, at + 15)
    local holder = held[a.t .. 'k:' .. key]
    if not holder or holder.expires <= now then
      missing[#missing + 1] = key
    else
      present[#present + 1] = key
      if not oldest or holder.seq < oldest.seq then oldest = holder end
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
  for _, key in ipairs(present) do note_earlier(a.t .. 'l:' .. key, seq, a.id) end
  return insert(a)
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
  return 0, event_state(event), 0
end

local function text(value)
  return pack('>I4c0', #(value or ''), value or '')
end

local accepts, settles = {}, {}
for i, a in ipairs(arrivals) do
  local facts = accept(a)
  accepts[i] = pack('>Bc16i8BB', facts[1], facts[2], facts[3], facts[4], facts[5]) .. text(facts[6]) .. text(facts[7])
end
for i = 1, number() do settles[i] = pack('BBB', settle()) end

for _, event in ipairs(changed) do
  if event.joined then event.set.j = (not event.fresh and call('HGET', event.key, 'j') or '') .. event.joined end
end
for name in pairs(earlier) do call('ZCARD', name) end
call('SCARD', prefix .. 'sources')
plan_changes()

if seq > last_seq then call('SET', prefix .. 'seq', string.format('%.0f', seq)) end
local lasting = {}
for name, key in pairs(taken) do
  local holder = held[name]
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
