import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Env } from "../../../src/os/env.ts";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { TEST_CERTIFICATE } from "../../support/net/test-certificate.ts";
import { startTestProxy, startTlsFront } from "../../support/net/test-proxy.ts";
import { doneIn, teamsIn } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const PASSWORD = "proxy-9f4c-sesame";

/** Creates a home directory and a model that only a proxy with a password can reach. */
async function behindProxy() {
  const t = privateTmux();
  const api = await startFakeMessagesApi([{ kind: "message", blocks: [{ type: "text", text: "Done." }] }]);
  onTestFinished(() => api.close());
  const model = await startTlsFront(Number(new URL(api.url).port));
  const proxy = await startTestProxy({ "model.test:443": model }, { credentials: `ada:${PASSWORD}` });
  const certificate = join(t.home, "certificate.pem");
  writeFileSync(certificate, TEST_CERTIFICATE.cert);
  const env: Env = {
    ...t.env,
    ANTHROPIC_API_KEY: "sk-ant-test-1234",
    ANTHROPIC_BASE_URL: "https://model.test",
    NODE_EXTRA_CA_CERTS: certificate,
  };
  const HTTPS_PROXY = `http://ada:${PASSWORD}@127.0.0.1:${proxy.port}`;
  return { t, api, proxy, env, HTTPS_PROXY };
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const entry = lstatSync(path, { throwIfNoEntry: false });
    return entry?.isDirectory() ? filesBelow(path) : entry?.isFile() ? [path] : [];
  });
}

it("a proxy › is used by a lead and by teammates in panes and processes, and its password is in no file", async () => {
  const { t, api, proxy, env: plain, HTTPS_PROXY } = await behindProxy();
  const env = { ...plain, HTTPS_PROXY };
  const teams = teamsIn(env, t.home);
  const done = doneIn(env, t.home);
  const run = await teams([
    "run",
    "Go.",
    "-p",
    "--team",
    "crew",
    "--keep",
    "--debug",
    "--model",
    "haiku",
    "--json",
  ]);
  expect([run.code, run.err]).toEqual([0, ""]);
  expect(api.requests).toHaveLength(1);
  for (const [name, mode] of [
    ["ada", "process"],
    ["bob", "tmux"],
  ] as const)
    await done(
      "spawn",
      name,
      "--model",
      "haiku",
      "--teammate-mode",
      mode,
      "--prompt",
      "Begin.",
      "--team",
      "crew",
    );
  await done("wait", "--idle", "--timeout", "180", "--team", "crew");
  expect(api.requests).toHaveLength(3);
  expect(new Set(proxy.asked)).toEqual(new Set(["CONNECT model.test:443"]));
  const leaks = filesBelow(t.home).filter((file) => readFileSync(file, "utf8").includes(PASSWORD));
  expect(leaks).toEqual([]);
});

it("a proxy › is used if the user's settings name it, and doctor reports it and exits", async () => {
  const { t, proxy, env, HTTPS_PROXY } = await behindProxy();
  const root = env.TEAMS_HOME ?? "";
  mkdirSync(root, { recursive: true });
  const teams = teamsIn(env, t.home);
  const doctor = async (name: string) => {
    const { out } = await teams(["doctor", "--online", "--json"]);
    expect(out).not.toContain(PASSWORD);
    const { checks } = JSON.parse(out) as { checks: { name: string; level: string; text: string }[] };
    return checks.find((check) => check.name === name);
  };
  expect(await doctor("model access")).toMatchObject({
    level: "fail",
    text: expect.stringContaining("ENOTFOUND"),
  });
  writeFileSync(join(root, "settings.json"), JSON.stringify({ env: { HTTPS_PROXY } }));
  expect(await doctor("proxy")).toMatchObject({
    level: "ok",
    text: expect.stringContaining(`${proxy.url} (HTTPS_PROXY)`),
  });
  expect(await doctor("model access")).toMatchObject({
    level: "ok",
    text: `https://model.test answers, through the proxy ${proxy.url} (HTTPS_PROXY)`,
  });
});
