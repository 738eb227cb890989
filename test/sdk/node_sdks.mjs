// The official Node SDKs as one process: a JSON request per line on standard input, a JSON answer per line on standard output. Bodies are base64.
//
//   {"do":"sign","sdk":"stripe","secret":"..","id":"..","body":".."}       -> {"headers":{..}}
//   {"do":"verify","sdk":"stripe","secret":"..","headers":{..},"body":".."} -> {"accepted":true} or {"accepted":false,"why":".."}
//   {"do":"listen","sdk":"bolt","secret":".."}                             -> {"url":".."}: a real application of that SDK
//   {"do":"received","sdk":"bolt"}                                         -> {"ids":[..]}: the events its handlers got
//
// Nothing here computes or compares a signature: the SDKs do, with their own tolerances.
import http from 'node:http';
import readline from 'node:readline';

import bolt from '@slack/bolt';
import { Webhooks, createNodeMiddleware } from '@octokit/webhooks';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';

const stripe = new Stripe('sk_test_unused');

const signers = {
  stripe: ({ secret, body }) => ({
    'Stripe-Signature': stripe.webhooks.generateTestHeaderString({ payload: body.toString(), secret }),
  }),
  octokit: async ({ secret, body, id }) => ({
    'X-GitHub-Delivery': id,
    'X-GitHub-Event': 'push',
    'X-Hub-Signature-256': await new Webhooks({ secret }).sign(body.toString()),
  }),
  standardwebhooks: ({ secret, body, id }) => {
    const now = new Date();
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, now, body.toString()),
    };
  },
};

// Each throws where its SDK refuses.
const verifiers = {
  stripe: ({ secret, body, headers }) => stripe.webhooks.constructEvent(body, headers['stripe-signature'], secret),
  bolt: ({ secret, body, headers }) => bolt.verifySlackRequest({ signingSecret: secret, body: body.toString(), headers }),
  octokit: async ({ secret, body, headers }) => {
    if (!(await new Webhooks({ secret }).verify(body.toString(), headers['x-hub-signature-256']))) throw new Error('signature mismatch');
  },
  standardwebhooks: ({ secret, body, headers }) => new Webhook(secret).verify(body.toString(), headers),
};

const received = { bolt: [], octokit: [] };

const applications = {
  bolt: async ({ secret }) => {
    const receiver = new bolt.HTTPReceiver({ signingSecret: secret, endpoints: '/', logLevel: bolt.LogLevel.ERROR });
    const authorize = async () => ({ botToken: 'unused', botId: 'B0001', botUserId: 'U0002' });
    const app = new bolt.App({ receiver, authorize, logLevel: bolt.LogLevel.ERROR });
    app.event('message', async ({ body }) => { received.bolt.push(body.event_id); });
    return receiver.start({ port: 0, host: '127.0.0.1' });
  },
  octokit: async ({ secret }) => {
    const webhooks = new Webhooks({ secret });
    webhooks.onAny(({ id }) => { received.octokit.push(id); });
    const server = http.createServer(createNodeMiddleware(webhooks, { path: '/' }));
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    return server;
  },
};

async function answer(request) {
  const given = { ...request, body: Buffer.from(request.body ?? '', 'base64') };
  switch (request.do) {
    case 'sign':
      return { headers: await signers[request.sdk](given) };
    case 'verify':
      try {
        await verifiers[request.sdk](given);
        return { accepted: true };
      } catch (error) {
        return { accepted: false, why: String(error.message) };
      }
    case 'listen':
      return { url: `http://127.0.0.1:${(await applications[request.sdk](given)).address().port}/` };
    case 'received':
      return { ids: received[request.sdk] };
    default:
      throw new Error(`unknown request ${request.do}`);
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
process.exit(0);
