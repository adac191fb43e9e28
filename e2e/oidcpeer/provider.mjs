// An OpenID provider written by others (npm oidc-provider), with two people, so
// that sign-in is tested against a party that does not share our mistakes.
//
//   node provider.mjs '{"redirect": "http://…/auth/callback", "postLogout": "http://…/", "backchannel": "http://…/backchannel-logout", "silent": false}'
//
// Listens on a free port of 127.0.0.1, prints one line of JSON {"issuer": …} and
// runs until it is stopped. "silent" leaves out acr and amr, as many providers
// do. alice has a password and a one-time code, bob a password only.
import { createHmac, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import Provider, { interactionPolicy } from 'oidc-provider';

const options = JSON.parse(process.argv[2] || '{}');
const MFA = 'urn:peer:acr:mfa';
const PASSWORD = 'urn:peer:acr:password';
const CODE_KEY = Buffer.from('12345678901234567890'); // base32: GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ
const people = {
  alice: { password: 'alice-password', key: CODE_KEY, name: 'Alice Peer', email: 'alice@peer.test', groups: ['managers', 'staff'] },
  bob: { password: 'bob-password', name: 'Bob Peer', email: 'bob@peer.test', groups: ['staff'] },
};

function codeAt(key, step) {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', key).update(counter).digest();
  return String((mac.readUInt32BE(mac[19] & 15) & 0x7fffffff) % 1e6).padStart(6, '0');
}

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  server.on('request', build(issuer).callback());
  console.log(JSON.stringify({ issuer }));
});

function build(issuer) {
  const policy = interactionPolicy.base();
  policy.remove('consent');
  policy.get('login').checks.add(new interactionPolicy.Check('mfa_asked', 'two factors are asked for', 'login_required', (ctx) => {
    const asked = (ctx.oidc.params.acr_values || '').split(' ').includes(MFA);
    return asked && ctx.oidc.acr !== MFA ? interactionPolicy.Check.REQUEST_PROMPT : interactionPolicy.Check.NO_NEED_TO_PROMPT;
  }, () => ({})));

  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'portal',
      client_secret: 'peer-secret',
      redirect_uris: [options.redirect],
      post_logout_redirect_uris: [options.postLogout],
      backchannel_logout_uri: options.backchannel,
      backchannel_logout_session_required: true,
      response_types: ['code'],
      grant_types: ['authorization_code'],
      id_token_signed_response_alg: 'RS256',
    }],
    acrValues: [PASSWORD, MFA],
    claims: {
      openid: options.silent ? ['sub'] : ['sub', 'acr', 'amr', 'auth_time', 'sid'],
      groups: ['groups'], email: ['email'], profile: ['name'],
      acr: null, amr: null, auth_time: null, sid: null,
    },
    conformIdTokenClaims: false, // claims of the asked scopes stand in the ID token
    cookies: { keys: [randomBytes(16).toString('hex')] },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => { ctx.body = `<!doctype html><title>Sign out</title>${form}<button name="logout" value="yes" form="op.logoutForm">Sign out</button>`; },
      },
    },
    // The provider refuses loopback addresses when it calls out; here everything is loopback.
    fetch: (url, { dispatcher, ...rest }) => fetch(url, rest),
    interactions: { policy, url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (ctx, id) => people[id] && ({
      accountId: id,
      claims: () => ({ sub: id, name: people[id].name, email: people[id].email, groups: people[id].groups }),
    }),
    async loadExistingGrant(ctx) {
      const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
      grant.addOIDCScope('openid profile email groups');
      await grant.save();
      return grant;
    },
  });

  provider.use(async (ctx, next) => {
    if (!ctx.path.startsWith('/interaction/')) return next();
    const details = await provider.interactionDetails(ctx.req, ctx.res);
    if (ctx.method === 'GET') {
      const hint = String(details.params.login_hint || '').replace(/\W/g, '');
      ctx.type = 'html';
      ctx.body = `<!doctype html><title>Peer sign-in</title><form method="post"><input name="username" value="${hint}"><input name="password" type="password"><input name="code"><button>Sign in</button></form>`;
      return undefined;
    }
    let body = '';
    for await (const chunk of ctx.req) body += chunk;
    const form = new URLSearchParams(body);
    const person = people[form.get('username')];
    const step = Math.floor(Date.now() / 30000);
    const rightCode = !person?.key || [step - 1, step, step + 1].some((s) => codeAt(person.key, s) === form.get('code'));
    if (!person || person.password !== form.get('password') || !rightCode) {
      ctx.status = 401;
      ctx.body = 'wrong';
      return undefined;
    }
    const login = { accountId: form.get('username') };
    if (!options.silent) {
      login.acr = person.key ? MFA : PASSWORD;
      login.amr = person.key ? ['pwd', 'otp', 'mfa'] : ['pwd'];
    }
    ctx.respond = false;
    return provider.interactionFinished(ctx.req, ctx.res, { login }, { mergeWithLastSubmission: false });
  });
  provider.on('server_error', (ctx, error) => console.error(error));
  provider.on('backchannel.error', (ctx, error) => console.error('back-channel logout:', error.message));
  return provider;
}
