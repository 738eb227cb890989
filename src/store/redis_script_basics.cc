#include "store/redis_scripts.h"

namespace hookonce {

namespace redis_lua {

// Numbers go into texts by string.format alone: Lua's own conversion keeps 14 digits, and a time has 16.
const std::string_view kBasics = R"lua(
local call, pack, parse, spread = redis.call, struct.pack, struct.unpack, unpack
local floor, min, max = math.floor, math.min, math.max

-- Arguments behind the first two are read one after the other.
local argument_at = 2
local function argument()
  argument_at = argument_at + 1
  return ARGV[argument_at]
end
local function number()
  return tonumber(argument())
end
local function arguments()  -- a list with its length before it
  local list = {}
  for i = 1, number() do list[i] = argument() end
  return list
end

local now = tonumber(ARGV[2])
if not now then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end

-- Without this, an inbox that was emptied or exchanged would go on with every key free again.
if call('GET', KEYS[1]) ~= ARGV[1] then
  return redis.error_reply('HKGONE the inbox is not the one that was opened')
end
local prefix = string.sub(KEYS[1], 1, -6)  -- without `inbox`

local function tag(source)
  return prefix .. '{' .. source .. '}:'
end
local function all_sources()
  return call('SMEMBERS', prefix .. 'sources')
end

local paused
local function is_paused(name)
  if not paused then
    paused = {}
    for _, one in ipairs(call('SMEMBERS', prefix .. 'paused')) do paused[one] = true end
  end
  return paused[name] or false
end

-- Lua hands over some thousand arguments at once, not any number.
local PART = 4000
local function send(command, key, list)
  for at = 1, #list, PART do
    call(command, key, spread(list, at, min(at + PART - 1, #list)))
  end
end
local function fetch(command, keys)
  local found = {}
  for at = 1, #keys, PART do
    local part = call(command, spread(keys, at, min(at + PART - 1, #keys)))
    for i = 1, #part do found[at + i - 1] = part[i] end
  end
  return found
end

local HOLDER = '>i8i8i8c16c16'
local function read_holder(text)
  local seq, first, expires, id, body = parse(HOLDER, text)
  return { seq = seq, first = first, expires = expires, id = id, body = body }
end
local function holder_text(holder)
  return pack(HOLDER, holder.seq, holder.first, holder.expires, holder.id, holder.body)
end

-- For PX: an hour more than the window, because whether a key is taken is read from its value, and this only sweeps up.
local SWEEP_AFTER_MS = 3600 * 1000
local function expiry_left(expires)
  return string.format('%.0f', max(0, math.ceil((expires - now) / 1000)) + SWEEP_AFTER_MS)
end
)lua";

// The rules of store/delivery_record.h once more, because they must run where the records are; the model test compares
// them. Records of one event stand one after the other in its field `d`.
const std::string_view kDeliveries = R"lua(
local PENDING, IN_FLIGHT, DELIVERED, DEAD = 0, 1, 2, 3
local NEVER = -1
local HELD = 9007199254740991  -- behind an earlier one of its line: no time at which it is due; Lua's largest whole number
local RECORD = '>Bc0Bi8i4i4i8i8Bi8i8Bi4i4B'
local ATTEMPTS_KEPT = 100

local function read_deliveries(text)
  local list, at = {}, 1
  while at <= #text do
    local name, state, due, attempt, counted, armed, claimed, unsettled, delivered, ended, replay, new_key, new_keys, line
    name, state, due, attempt, counted, armed, claimed, unsettled, delivered, ended, replay, new_key, new_keys, line, at =
      parse(RECORD, text, at)
    list[#list + 1] = { name = name, state = state, due = due, attempt = attempt, counted = counted, armed = armed,
      claimed = claimed, unsettled = unsettled, delivered = delivered, ended = ended, replay = replay,
      new_key = new_key, new_keys = new_keys, line = line, was = state, was_due = due }
  end
  return list
end

local function deliveries_text(list)
  local parts = {}
  for i, d in ipairs(list) do
    parts[i] = pack(RECORD, #d.name, d.name, d.state, d.due, d.attempt, d.counted, d.armed, d.claimed, d.unsettled,
      d.delivered, d.ended, d.replay, d.new_key, d.new_keys, d.line)
  end
  return table.concat(parts)
end

local function new_delivery(name)
  return { name = name, state = PENDING, due = now, attempt = 0, counted = 0, armed = now, claimed = 0, unsettled = 0,
    delivered = NEVER, ended = 0, replay = 0, new_key = 0, new_keys = 0, line = 0 }
end
local function is_open(state)
  return state == PENDING or state == IN_FLIGHT
end
local function arm(d)
  d.state, d.due, d.armed, d.counted = PENDING, now, now, 0
end
local function can_rearm(d)
  return d.state == DEAD and d.delivered == NEVER
end
-- The next attempt's lease, as bytes of the answer.
local function take_lease(d, duration)
  d.state, d.due, d.claimed, d.unsettled = IN_FLIGHT, now + duration, now, 1
  d.attempt, d.counted = d.attempt + 1, d.counted + 1
  return pack('>i4i4i8i8i8Bi4', d.attempt, d.counted, d.claimed, d.due, d.armed, d.replay, d.new_key)
end
local function delivery_of(event, name)
  for _, d in ipairs(event.deliveries) do
    if d.name == name then return d end
  end
end
-- As EventState counts: pending, delivered, dead.
local function event_state(event)
  local dead = false
  for _, d in ipairs(event.deliveries) do
    if is_open(d.state) then return 0 end
    dead = dead or d.state == DEAD
  end
  return dead and 2 or 1
end

-- Events that this run has read or made, by key; changed ones are written at the end, each once. What accept writes
-- straight away stands here as a number until somebody asks for it; `thaw` makes an event of it.
local events, changed, thaw = {}, {}, nil
local function event_of(t, id)
  local key = t .. 'e:' .. id
  local event = events[key]
  if type(event) == 'number' then
    event = thaw(event)
    events[key] = event
  end
  if event ~= nil then return event end
  local read = call('HMGET', key, 's', 'd', 'n')
  event = false
  if read[1] then
    local seq, received = parse('>i8i8', read[1])
    event = { t = t, id = id, key = key, seq = seq, received = received, deliveries = read_deliveries(read[2]), fixed = read[1],
      duplicates = tonumber(read[3] or '0'), set = {}, drop = {}, fresh = false }
  end
  events[key] = event
  return event
end
-- The event of that id in whichever source has it.
local sources_of_run
local function find_event(id)
  sources_of_run = sources_of_run or all_sources()
  for _, source in ipairs(sources_of_run) do
    local event = event_of(tag(source), id)
    if event then
      event.source = source
      return event
    end
  end
end
local function change(event)
  if event.changed then return end
  event.changed = true
  changed[#changed + 1] = event
end
-- As change(), where a delivery is another one afterwards.
local function move(event)
  event.moved = true
  change(event)
end
local function record_attempt(event, name, attempt, text)
  event.set['t:' .. name .. ':' .. attempt] = text
  if attempt > ATTEMPTS_KEPT then
    event.drop[#event.drop + 1] = 't:' .. name .. ':' .. (attempt - ATTEMPTS_KEPT)
  end
end

local added, removed, counts = {}, {}, {}
-- Redis would write each number with 17 digits, which costs more than all else here; most of them come several times.
local now_text, last_score, last_text = string.format('%.0f', now), nil, nil
local function score_text(score)
  if score == now then return now_text end
  if score ~= last_score then last_score, last_text = score, string.format('%.0f', score) end
  return last_text
end
local function add(key, score, member)
  score = score_text(score)
  local list = added[key]
  if not list then
    list = {}
    added[key] = list
  end
  local n = #list
  list[n + 1], list[n + 2] = score, member
end
local function remove(key, member)
  local list = removed[key]
  if not list then
    list = {}
    removed[key] = list
  end
  list[#list + 1] = member
end
local function count(t, name, difference)
  if difference == 0 then return end
  local of_source = counts[t]
  if not of_source then
    of_source = { in_flight = 0, dead = 0 }
    counts[t] = of_source
  end
  of_source[name] = of_source[name] + difference
end
local function one_if(condition)
  return condition and 1 or 0
end

-- Lines (see store.h). `line` of a record says whether it stands in one; what this run changes of a line is kept beside
-- what Redis has of it.
local lines = {}
local function line_of(event, name)
  local ordering_key = select(8, parse('>i8i8I4c0I4c0BI4c0BI4c0', event.fixed))
  local key = event.t .. 'w:' .. name .. ':' .. ordering_key
  local line = lines[key]
  if not line then
    line = { key = key, all = event.t .. 'W:' .. name, joined = {}, left = {}, left_count = 0 }
    lines[key] = line
  end
  return line
end
local function line_head(line)
  for _, id in ipairs(call('ZRANGE', line.key, 0, line.left_count)) do
    if not line.left[id] then return id end
  end
  for _, id in ipairs(line.joined) do
    if not line.left[id] then return id end
  end
end
local function join_line(event, d)
  local line = line_of(event, d.name)
  d.line = 1
  if line_head(line) then d.due = HELD end
  line.joined[#line.joined + 1] = event.id
  add(line.key, event.seq, event.id)
  add(line.all, event.seq, event.id)
end
-- Whether the next one became due.
local function leave_line(event, d)
  if d.line == 0 then return false end
  local line = line_of(event, d.name)
  d.line = 0
  move(event)
  line.left[event.id] = true
  line.left_count = line.left_count + 1
  remove(line.key, event.id)
  remove(line.all, event.id)
  local next_id = line_head(line)
  local next_event = next_id and event_of(event.t, next_id)
  local next_d = next_event and delivery_of(next_event, d.name)
  if not next_d or next_d.state ~= PENDING or next_d.due ~= HELD then return false end
  arm(next_d)
  move(next_event)
  return true
end
local function leaves_line(d, skip_dead)
  return d.state == DELIVERED or (d.state == DEAD and skip_dead)
end

local queues = {}
-- Notes in which indexes the event stands after what this run did to its deliveries.
local function place(event)
  local t, member = event.t, pack('>i8', event.seq) .. event.id
  local open, was_open, dead, was_dead, ended = false, false, false, false, event.received
  for _, d in ipairs(event.deliveries) do
    local queue = t .. 'q:' .. d.name
    if is_open(d.state) then
      open = true
      if d.due ~= d.was_due or not is_open(d.was) then add(queue, d.due, member) end
      if not is_open(d.was) then
        queues[t] = queues[t] or {}
        queues[t][d.name] = true
      end
    else
      ended = max(ended, d.ended)
      if is_open(d.was) then remove(queue, member) end
    end
    dead = dead or d.state == DEAD
    was_open = was_open or is_open(d.was)
    was_dead = was_dead or d.was == DEAD
    count(t, 'in_flight', one_if(d.state == IN_FLIGHT) - one_if(d.was == IN_FLIGHT))
    count(t, 'dead', one_if(d.state == DEAD) - one_if(d.was == DEAD))
  end
  if event.fresh then add(t .. 'i', event.seq, event.id) end
  if open then
    if not was_open then
      add(t .. 'o', event.seq, event.id)
      if not event.fresh then remove(t .. 'c', event.id) end
    end
  else
    if was_open then remove(t .. 'o', event.id) end
    add(t .. 'c', ended, event.id)
  end
  if dead and not was_dead then add(t .. 'd', event.seq, event.id) end
  if was_dead and not dead then remove(t .. 'd', event.id) end
end

-- A key of another type under one of our names must show before the first write, not between two of them.
local function check_types()
  for _, lists in ipairs({ added, removed }) do
    for key in pairs(lists) do call('ZCARD', key) end
  end
  for t in pairs(counts) do call('HLEN', t .. 'n') end
  for t in pairs(queues) do call('SCARD', t .. 'Q') end
end

local function write_event(event)
  local fields, at = {}, 0
  for field, value in pairs(event.set) do
    fields[at + 1], fields[at + 2] = field, value
    at = at + 2
  end
  if event.moved then fields[at + 1], fields[at + 2] = 'd', deliveries_text(event.deliveries) end
  send('HSET', event.key, fields)
  if #event.drop > 0 then send('HDEL', event.key, event.drop) end
end

-- plan_changes() comes before the first write of a script, write_changes() is the last thing it does.
local function plan_changes()
  for _, event in ipairs(changed) do
    if event.moved then place(event) end
  end
  check_types()
end
local function write_changes()
  for _, event in ipairs(changed) do write_event(event) end
  for key, list in pairs(added) do send('ZADD', key, list) end
  for key, list in pairs(removed) do send('ZREM', key, list) end
  for t, names in pairs(queues) do
    for name in pairs(names) do call('SADD', t .. 'Q', name) end
  end
  for t, of_source in pairs(counts) do
    for name, difference in pairs(of_source) do
      if difference ~= 0 then call('HINCRBY', t .. 'n', name, difference) end
    end
  end
end
)lua";

}  // namespace redis_lua

namespace {

std::string_view body_of(RedisScript script) {
  switch (script) {
    case RedisScript::kCommit:
      return redis_lua::kCommit;
    case RedisScript::kFindDuplicate:
      return redis_lua::kFindDuplicate;
    case RedisScript::kClaim:
      return redis_lua::kClaim;
    case RedisScript::kNextDue:
      return redis_lua::kNextDue;
    case RedisScript::kSetPaused:
      return redis_lua::kSetPaused;
    case RedisScript::kReply:
      return redis_lua::kReply;
    case RedisScript::kGet:
      return redis_lua::kGet;
    case RedisScript::kList:
      return redis_lua::kList;
    case RedisScript::kStats:
      return redis_lua::kStats;
    case RedisScript::kReplay:
      return redis_lua::kReplay;
    case RedisScript::kLineRule:
      return redis_lua::kLineRule;
    case RedisScript::kPrune:
      return redis_lua::kPrune;
    case RedisScript::kCopy:
      return redis_lua::kCopy;
    case RedisScript::kCopyEnd:
      return redis_lua::kCopyEnd;
  }
  return {};
}

}  // namespace

std::string redis_script_text(RedisScript script) {
  std::string text(redis_lua::kBasics);
  text.append(redis_lua::kDeliveries).append(body_of(script));
  return text;
}

}  // namespace hookonce
