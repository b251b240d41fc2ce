// An endpoint that charges each Idempotency-Key once, whichever process is asked and however often.
//
//     FIRSTCLAIM_URL=http://localhost:8080 FIRSTCLAIM_TOKEN=... node endpoint.mts [PORT]
//
// Node 22.18 or later runs it as it is, from 22.6 on with --experimental-strip-types; older ones run what tsc makes of it.
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const { FIRSTCLAIM_URL, FIRSTCLAIM_TOKEN } = process.env;
const charged: string[] = [];

type Answer = { status: number; body: Record<string, unknown>; retryAfter?: string | null };

/** Sends a write, again if there is no answer: its key has the store know it for the same. */
async function claims(path: string, body: object): Promise<Answer> {
  const request = {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${FIRSTCLAIM_TOKEN}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(),
    },
    body: JSON.stringify(body),
  };
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const answer = await fetch(`${FIRSTCLAIM_URL}/api/claims/${path}`, {
        ...request,
        signal: AbortSignal.timeout(10_000),
      });
      if (answer.status !== 503) {
        return {
          status: answer.status,
          body: (await answer.json()) as Record<string, unknown>,
          retryAfter: answer.headers.get('Retry-After'),
        };
      }
    } catch {
      // No answer: the same again.
    }
  }
  return { status: 503, body: { error: 'the claims do not answer' }, retryAfter: '1' };
}

/** The effect. A sink that remembers the highest token it has seen refuses lower ones. */
async function charge(payload: Buffer, token: number): Promise<string> {
  charged.push(`${payload} with token ${token}`);
  return `receipt ${charged.length}`;
}

async function chargeOnce(key: string | undefined, payload: Buffer): Promise<Answer> {
  if (!key) {
    return { status: 400, body: { error: 'send an Idempotency-Key' } };
  }
  const path = encodeURIComponent(key);
  const fingerprint = createHash('sha256').update(payload).digest('hex');
  const claim = await claims(path, { fingerprint, holder: 'node' });
  if (claim.status === 200) {
    return { status: 200, body: { receipt: claim.body.result } }; // done before
  }
  if (claim.status !== 201) {
    return claim;
  }
  const held = `${path}/${claim.body.handle}`;
  let receipt: string;
  try {
    receipt = await charge(payload, Number(claim.body.token));
  } catch (fault) {
    await claims(`${held}/release`, { cause: String(fault).slice(0, 1000) });
    return { status: 500, body: { error: 'come back with the same key' } };
  }
  const done = await claims(`${held}/complete`, { result: receipt });
  return done.status === 200
    ? { status: 200, body: { receipt } }
    : { status: 503, body: { error: 'come back with the same key' } };
}

const endpoint = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) {
    parts.push(part);
  }
  const key = request.headers['idempotency-key'];
  const answer = await chargeOnce(Array.isArray(key) ? key[0] : key, Buffer.concat(parts));
  response.writeHead(answer.status, {
    'Content-Type': 'application/json',
    ...(answer.retryAfter ? { 'Retry-After': answer.retryAfter } : {}),
  });
  response.end(JSON.stringify(answer.body));
});

/** Twenty requests with one key at once, until each has the receipt. */
async function tryIt(port: number): Promise<void> {
  const key = `payment ${randomUUID()}`;
  const ask = (body: string) =>
    fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { 'Idempotency-Key': key },
      body,
    });
  const client = async () => {
    let answer = await ask('100 EUR');
    while (answer.status === 409) {
      answer = await ask('100 EUR'); // somebody is at it
    }
    return `${answer.status} ${await answer.text()}`;
  };
  const answers = new Set(await Promise.all(Array.from({ length: 20 }, client)));
  if (answers.size !== 1 || !answers.has('200 {"receipt":"receipt 1"}') || charged.length !== 1) {
    throw new Error([...answers, ...charged].join('; '));
  }
  if ((await ask('200 EUR')).status !== 422) {
    throw new Error('another payload was taken for the same');
  }
  console.log('twenty requests, charged once');
}

const trial = process.argv.includes('--try');
endpoint.listen(trial ? 0 : Number(process.argv[2] ?? 8000), '127.0.0.1', async () => {
  if (trial) {
    await tryIt((endpoint.address() as AddressInfo).port);
    endpoint.closeAllConnections();
    endpoint.close();
  }
});
