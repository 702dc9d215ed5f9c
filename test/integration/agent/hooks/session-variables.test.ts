import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exportLines, SessionVariables } from "../../../../src/agent/hooks/session-variables.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const ENV = { HOME: "/home/ada", MY_SECRET: "hunter2$hunter2", NPM_TOKEN: "sesame-sesame" };

/** The variables of hooks `a` and `b`; `a` is the user's own. */
function opened() {
  const directory = join(temporaryDirectory(), "session-env", "s");
  mkdirSync(directory, { recursive: true });
  const variables = new SessionVariables({
    directory,
    env: ENV,
    hooks: () => ["a", "b"].map((command) => ({ command, isOwn: command === "a" })),
  });
  const file = variables.prepare("a");
  const lines = async (isOutside = false) => exportLines(await variables.assignments(isOutside));
  const keep = async (text: string) => {
    writeFileSync(file, text);
    return variables.keep("a", ENV);
  };
  return { directory, variables, file, lines, keep };
}

describe("SessionVariables", () => {
  test("keeps each line once, the newest last", async () => {
    const { file, keep } = opened();
    expect(await keep("export A=1\nB=2 # why\nexport C=\nexport A='1'\n")).toEqual([]);
    expect(readFileSync(file, "utf8")).toBe("export B='2'\nexport C=\nexport A='1'\n");
  });

  test.each([
    "TEAMS_AGENT",
    "CLAUDE_ENV_FILE",
    "HOME",
    "IFS",
    "BASH_ENV",
    "ENV",
    "CDPATH",
    "cdpath",
    "GLOBIGNORE",
    "SHELLOPTS",
    "ZDOTDIR",
    "UID",
    "LD_PRELOAD",
    "DYLD_INSERT_LIBRARIES",
    "GIT_DIR",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_VALUE_0",
    "GIT_EXTERNAL_DIFF",
  ])("leaves out %s", async (name) => {
    const { file, keep, lines } = opened();
    expect(await keep(`export A=1 ${name}=/x\n`)).toEqual([
      `left out, since hooks must not set these variables for an agent's commands: ${name}`,
    ]);
    expect(readFileSync(file, "utf8")).toBe("export A='1'\n");
    // Even if a process writes it later.
    writeFileSync(file, `export ${name}=/x`);
    expect(await lines()).toBe("");
  });

  test.each(["PATH", "LD_LIBRARY_PATH", "NODE_OPTIONS", "GIT_AUTHOR_NAME", "GIT_SSH_COMMAND", "PYTHONPATH"])(
    "sets %s",
    async (name) => {
      const { keep, lines } = opened();
      expect(await keep(`export ${name}=/x\n`)).toEqual([]);
      expect(await lines()).toBe(`export ${name}='/x'\n`);
    },
  );

  test("redacts a known secret in any spelling, and leaves out variables that contain another secret", async () => {
    const { file, keep } = opened();
    const text = String.raw`declare -x A="hunter2\$hunter2"
export B='hunt''er2$hunter2' C=$'hunter2\x24hunter2' D=hunter2\$hunter2/x E_TOKEN=abcdefgh
export HTTPS_PROXY=http://ada:password1@proxy:3128
`;
    expect(await keep(text)).toEqual([
      "left out, since teams must not save the values of secrets: E_TOKEN, HTTPS_PROXY",
    ]);
    expect(readFileSync(file, "utf8")).toBe(
      "export A='[secret]'\nexport B='[secret]'\nexport C='[secret]'\nexport D='[secret]/x'\n",
    );
  });

  test("names what is left out in one line for each reason, without secrets or control characters", async () => {
    const { keep } = opened();
    const others = `run \x1b[31mx --key=sesame-sesame\n${"touch x\n".repeat(999)}`;
    // A hook may print all its variables.
    const same = "export HOME=/home/ada NPM_TOKEN=sesame-sesame\n";
    const [line = "", ...more] = await keep(`${same}export IFS=x TEAMS_A=1 TEAMS_B=2\n${others}`);
    expect(line).toMatch(
      /^only assignments count in CLAUDE_ENV_FILE; left out: run .*--key=\[secret\] \(and 999 more\)$/,
    );
    expect(line).not.toMatch(/[\x00-\x1f]/);
    expect(more).toEqual([
      "left out, since hooks must not set these variables for an agent's commands: IFS, TEAMS_A, TEAMS_B",
    ]);
  });

  test("ignores a file that is too long, and empties it", async () => {
    const { file, keep, lines } = opened();
    const long = `export A=1\n# ${"x".repeat(65_536)}\n`;
    writeFileSync(file, long);
    expect(await lines()).toBe("");
    expect(await keep(long)).toEqual([
      "its CLAUDE_ENV_FILE is not a file of at most 65536 bytes, so it sets no variables",
    ]);
    expect(readFileSync(file, "utf8")).toBe("");
  });

  test("limits the variables of all hooks together", async () => {
    const { variables, keep, lines } = opened();
    expect(await keep(`export A=${"x".repeat(40_000)}\n`)).toEqual([]);
    writeFileSync(variables.prepare("b"), `export B=${"x".repeat(40_000)}\n`);
    expect(await variables.keep("b", ENV)).toEqual([
      "the variables of all hooks have more than 65536 bytes, so it sets none",
    ]);
    expect((await lines()).length).toBeLessThan(41_000);
  });

  test("limits the variables of hooks that end at the same time, and keeps those of one hook", async () => {
    const { variables, lines } = opened();
    for (const name of ["a", "b"])
      writeFileSync(variables.prepare(name), `export ${name}=${"x".repeat(40_000)}\n`);
    const problems = await Promise.all(["a", "b"].map((name) => variables.keep(name, ENV)));
    expect(problems.flat()).toEqual([
      "the variables of all hooks have more than 65536 bytes, so it sets none",
    ]);
    expect((await lines()).length).toBeGreaterThan(40_000);
  });

  test("leaves out a project's variables outside the sandbox", async () => {
    const { variables, keep, lines } = opened();
    await keep("export A=1\n");
    writeFileSync(variables.prepare("b"), "export B=1\n");
    await variables.keep("b", ENV);
    expect([await lines(), await lines(true)]).toEqual(["export A='1'\nexport B='1'\n", "export A='1'\n"]);
  });

  test.each([
    ["a link to another file", (file: string, other: string) => symlinkSync(other, file)],
    ["a link to an endless file", (file: string) => symlinkSync("/dev/zero", file)],
    ["a link to itself", (file: string) => symlinkSync(file, file)],
    ["a hard link", (file: string, other: string) => linkSync(other, file)],
    ["a FIFO", (file: string) => void execFileSync("mkfifo", [file])],
  ])("neither reads nor changes what %s leads to", async (_, replace) => {
    const { directory, variables, file, lines } = opened();
    const other = join(directory, "other");
    writeFileSync(other, "export A=1\n");
    const put = (): void => {
      rmSync(file);
      replace(file, other);
    };
    put();
    expect(await lines()).toBe("");
    expect(await variables.keep("a", ENV)).toHaveLength(1);
    expect([lstatSync(file).isFile(), readFileSync(file, "utf8")]).toEqual([true, ""]);
    put();
    // The sandbox opens this file for a project's hook.
    expect(variables.prepare("a")).toBe(file);
    expect([lstatSync(file).isFile(), lstatSync(file).nlink]).toEqual([true, 1]);
    expect(readFileSync(other, "utf8")).toBe("export A=1\n");
  });

  test("reports a directory in place of its file, and sets nothing", async () => {
    const { variables, file, lines } = opened();
    rmSync(file);
    mkdirSync(join(file, "x"), { recursive: true });
    expect(await variables.keep("a", ENV)).toEqual([
      expect.stringMatching(/^its CLAUDE_ENV_FILE cannot be used, so it sets no variables: /),
    ]);
    expect(() => variables.prepare("a")).toThrow();
    expect(await lines()).toBe("");
    expect(existsSync(join(file, "x"))).toBe(true);
  });

  test("reports that its directory cannot be listed", async () => {
    const { directory, variables } = opened();
    rmSync(directory, { recursive: true });
    symlinkSync(directory, directory);
    expect(await variables.keepAll()).toEqual([
      expect.stringMatching(/^the files of its variables cannot be listed: ELOOP/),
    ]);
  });

  test("redacts secrets in the files that a killed process has left", async () => {
    const { directory, variables, file } = opened();
    writeFileSync(file, "export A=sesame-sesame\n");
    writeFileSync(join(directory, "of-claude.sh"), "export A=sesame-sesame\n");
    await variables.keepAll();
    expect(readFileSync(file, "utf8")).toBe("export A='[secret]'\n");
    expect(readFileSync(join(directory, "of-claude.sh"), "utf8")).toContain("sesame");
    expect(readdirSync(directory)).toHaveLength(2);
  });
});
