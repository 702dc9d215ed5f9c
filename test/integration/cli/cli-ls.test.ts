import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { versionOf } from "../../../src/adapter/installed/cli-version.ts";
import type { InstalledCli } from "../../../src/adapter/installed/installed-clis.ts";
import { refuseUnsupported } from "../../../src/adapter/installed/version-check.ts";
import { identityOf } from "../../../src/os/process/identity.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { withGrowingLimit } from "../../support/timing/long-enough.ts";

type Adapters = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Creates a home, with only these programs in its PATH. */
function machine(programs: Readonly<Record<string, string>>, adapters: Adapters = {}) {
  const cli = cliIn();
  const bin = join(cli.directory, "bin");
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  for (const [name, script] of Object.entries(programs)) {
    write(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
  }
  write(join(cli.root, "settings.json"), JSON.stringify({ teams: { adapters } }));
  const env = { PATH: bin };
  const list = async (more: Readonly<Record<string, string>> = {}): Promise<Map<string, InstalledCli>> => {
    const { clis } = (await cli(["cli", "ls", "--json"], { env: { ...env, ...more } })).json<{
      clis: InstalledCli[];
    }>();
    return new Map(clis.map((one) => [one.name, one]));
  };
  const doctor = async (more: Readonly<Record<string, string>> = {}): Promise<string> =>
    (await cli(["doctor"], { env: { ...env, ...more } })).out;
  return { cli, bin, env, list, doctor, write };
}

const prints = (text: string): string => `#!/bin/sh\necho '${text}'\n`;
/** A stand-in for Node.js, which runs the scripts of npm. */
const NODE = '#!/bin/sh\ncase "$1" in --version) echo v20.19.0;; *) echo 1.2.3;; esac\n';
const NODE_SCRIPT = "#!/usr/bin/env node\n";

describe("teams cli ls", () => {
  it("shows version, tested versions, channel, login and how to install and log in", async () => {
    const { cli, env, list } = machine({ codex: prints("codex-cli 0.169.0") });
    const codex = (await list()).get("codex");
    expect(codex).toMatchObject({
      channel: "app-server",
      version: "0.169.0",
      problem: null,
      tested: ["0.169.0"],
      rank: "tested",
      refused: null,
      login: { state: "none", from: null, hint: "codex login" },
      install: "npm install -g @openai/codex",
    });
    const goose = (await list()).get("goose");
    expect(goose).toMatchObject({ program: null, tested: [], install: expect.stringContaining("goose") });
    expect(codex?.notes).toContain("It runs commands that it knows to be read-only without asking.");
    const { out } = await cli(["cli", "ls"], { env });
    expect(out).toMatch(/^codex +0\.169\.0 +0\.169\.0 +app-server +none found$/m);
    expect(out).toMatch(/^gemini +no +0\.61\.0 +acp +>=20 +none found$/m);
    expect(out).toMatch(
      /To install[\s\S]*gemini +npm install -g @google\/gemini-cli[\s\S]*To log in:\n +codex +codex login/,
    );
    expect(out).toMatch(
      /Good to know:\n +codex +It runs commands that it knows to be read-only without asking\.\n {3,}It does not run/,
    );
    expect(out).not.toContain("Not tested");
  });

  it("detects a login by its file or its variable, without asking a server", async () => {
    const { cli, list, write } = machine({ codex: prints("1.0.0") });
    const login = async (more?: Readonly<Record<string, string>>) => (await list(more)).get("codex")?.login;
    expect(await login({ OPENAI_API_KEY: "k" })).toMatchObject({ state: "found", from: "OPENAI_API_KEY" });
    write(join(cli.directory, ".codex/config.toml"), "model = 1");
    expect(await login()).toMatchObject({ state: "unknown", from: null });
    write(join(cli.directory, "elsewhere/auth.json"), "{}");
    expect(await login({ CODEX_HOME: join(cli.directory, "elsewhere") })).toMatchObject({
      state: "found",
      from: "$CODEX_HOME/auth.json",
    });
    write(join(cli.directory, ".codex/auth.json"), "{}");
    expect(await login()).toMatchObject({ state: "found", from: "~/.codex/auth.json" });
  });

  it("reports a faulty program: endless output, no version, failure, a child that stays", async () => {
    const { cli, list, bin } = machine(
      {
        endless: "#!/bin/sh\nwhile :; do echo 1111111111111111111111111111; done\n",
        silent: "#!/bin/sh\n",
        broken: "#!/bin/sh\necho 1.2.3\nexit 3\n",
        late: "#!/bin/sh\n/bin/sleep 1000 & echo $! > \"$0.pid\"; echo '\u001b[31m4.5.6'\n",
        'a b"; cd; touch shell': prints("7.8.9"),
      },
      Object.fromEntries(
        ["endless", "silent", "broken", "late", 'a b"; cd; touch shell'].map((command, i) => [
          `own-${i}`,
          { channel: "acp", command, versionArgs: ["--version", "; touch $HOME/shell"] },
        ]),
      ),
    );
    const clis = await list();
    const facts = [0, 1, 2, 3, 4].map((i) => clis.get(`own-${i}`)).map((one) => one?.version ?? one?.problem);
    expect(facts).toEqual([
      "its output is too long",
      "it printed no version",
      "it ended with exit status 3",
      "4.5.6",
      "7.8.9",
    ]);
    expect(existsSync(join(cli.directory, "shell"))).toBe(false);
    process.kill(Number(readFileSync(join(bin, "late.pid"), "utf8")));
  });

  it("ends a program that exceeds its time limit, with its child processes", async () => {
    const { bin, env } = machine({ slow: '#!/bin/sh\n/bin/sleep 1000 & echo $! > "$0.pid"; wait\n' });
    const { signal } = new AbortController();
    const file = join(bin, "slow.pid");
    const pidOf = (): number => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
    const version = await withGrowingLimit(
      300,
      (timeoutMs) => versionOf(join(bin, "slow"), [], env, { signal, timeoutMs }),
      () => pidOf() > 0,
    );
    expect(version).toEqual({ problem: expect.stringMatching(/^it printed no version within [\d.]+ s$/) });
    const pid = pidOf();
    await eventually("the end of its child", () => identityOf(pid) === undefined);
  });

  it("shows the Node.js versions that an npm program needs and would get", async () => {
    const { list, doctor } = machine({
      node: NODE,
      qwen: NODE_SCRIPT,
      "claude-agent-acp": prints("1.0.0"),
    });
    const clis = await list();
    expect(clis.get("qwen-acp")?.node).toEqual({ needed: ">=22", found: "20.19.0", isEnough: false });
    expect(clis.get("gemini")?.node).toEqual({ needed: ">=20", found: "20.19.0", isEnough: true });
    // This program is not from npm.
    expect(clis.get("claude-acp")?.node).toBeNull();
    expect(await doctor()).toContain("1.2.3 needs Node.js >=22, and the PATH has 20.19.0");
  });
});

it("teams cli ls and doctor › name an untested version, and a version that cannot start members", async () => {
  const { cli, env, list, doctor } = machine({
    codex: prints("codex-cli 0.171.0"),
    opencode: prints("2.0.4"),
  });
  const clis = await list();
  expect(clis.get("codex")).toMatchObject({ version: "0.171.0", rank: "untested", refused: null });
  const refused = expect.stringMatching(/^OpenCode 2 has another HTTP interface/);
  for (const name of ["opencode", "opencode-acp"])
    expect(clis.get(name)).toMatchObject({ version: "2.0.4", rank: "unsupported", refused });
  const { out } = await cli(["cli", "ls"], { env });
  expect(out).toMatch(/^codex +0\.171\.0 \(untested\) +0\.169\.0/m);
  expect(out).toMatch(/^opencode: OpenCode 2 has another HTTP interface/m);
  expect(await doctor()).toMatch(/warn +CLI opencode +2\.0\.4 cannot be started: OpenCode 2 has another/);
});

it("refuseUnsupported › refuses a version in a relative directory of the PATH", async () => {
  const { bin } = machine({ opencode: prints("2.0.4") });
  const PATH = relative(process.cwd(), bin);
  await expect(refuseUnsupported("opencode", {}, { PATH })).rejects.toMatchObject({
    code: "SPAWN_FAILED",
    message: expect.stringContaining("opencode 2.0.4 was not started"),
  });
});

it("teams doctor › says what to install in place of a refused version when no version was tested", async () => {
  const unsupported = { versions: ">=2", why: "It has another interface." };
  const own = { channel: "acp", command: "own", unsupported };
  const { doctor } = machine({ own: prints("2.0.0") }, { own });
  expect(await doctor()).toMatch(
    /warn +CLI own +2\.0\.0 cannot be started: It has another interface\.\n +→ Install an older version\./,
  );
});

it("teams doctor › warns about an installed CLI without login, and names the missing CLIs", async () => {
  const { doctor } = machine({ codex: prints("codex-cli 0.170.0"), goose: "#!/bin/sh\nexit 1\n" });
  const out = await doctor();
  expect(out).toMatch(
    /warn +CLI codex +0\.170\.0 \(untested\), tested: 0\.169\.0; no login found\n +→ Log in: codex login\./,
  );
  expect(out).toMatch(/warn +CLI goose +its version is not known: it ended with exit status 1/);
  expect(out).toMatch(/ok +CLIs +not installed: gemini \(npm install -g @google\/gemini-cli\), /);
  expect(await doctor({ OPENAI_API_KEY: "k" })).toMatch(
    /ok +CLI codex +0\.170\.0 \(untested\), tested: 0\.169\.0; login: OPENAI_API_KEY/,
  );
});
