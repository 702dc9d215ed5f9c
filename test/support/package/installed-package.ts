import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The packed and installed package in its own directory. */
export interface InstalledPackage {
  readonly directory: string;
  /** Names of the installed packages. */
  readonly packages: readonly string[];
  /** Bytes of all installed files. */
  readonly bytes: number;
  /** Paths in the tarball. */
  readonly packed: readonly string[];
  /** Compiles files with the strictest usual options. @returns the compiler's output; empty without an error */
  compile(files: Readonly<Record<string, string>>): string;
}

/** A tarball, and the paths in it. */
interface PackedPackage {
  /** Relative to its directory. */
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Packs a package into a directory; by default, the built package of this checkout. */
export function packPackage(directory: string, source = ROOT): PackedPackage {
  return JSON.parse(npm(directory, "pack", source, "--json"))[0];
}

/** Runs npm in a directory, without the network, the user's cache and the scripts of any package. */
function npm(directory: string, ...words: string[]): string {
  return execFileSync("npm", [...words, "--ignore-scripts", "--offline", "--no-audit", "--no-fund"], {
    cwd: directory,
    encoding: "utf8",
    env: {
      ...process.env,
      npm_config_cache: join(directory, "cache"),
      npm_config_update_notifier: "false",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Packs the built package and its one dependency, and installs both in an empty directory without the network. */
export function installPackage(): InstalledPackage {
  const directory = mkdtempSync(join(tmpdir(), "installed-"));
  const own = packPackage(directory);
  const blessed = packPackage(directory, join(ROOT, "node_modules/blessed"));
  writeFileSync(
    join(directory, "package.json"),
    '{ "name": "empty", "version": "1.0.0", "private": true }\n',
  );
  npm(directory, "install", `./${own.filename}`, `./${blessed.filename}`);
  const modules = join(directory, "node_modules");
  const packages = packagesIn(modules);
  // dist/ keeps the files of the last day's builds until it is pruned, as for a release.
  const built = statSync(join(ROOT, "dist/teams.cjs")).mtimeMs;
  const isOfBuild = (file: string): boolean =>
    !file.startsWith("tmux-teams/dist/") ||
    statSync(join(ROOT, file.slice("tmux-teams/".length))).mtimeMs >= built;
  const bytes = packages.reduce((sum, name) => sum + sizeOf(modules, name, isOfBuild), 0);
  mkdirSync(join(modules, "@types"), { recursive: true });
  for (const name of ["@types/node", "undici-types"])
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  return {
    ...{ directory, packages, bytes, packed: own.files.map(({ path }) => path) },
    compile: (files) => compile(directory, files),
  };
}

function compile(directory: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const project = join(directory, "tsconfig.json");
  const compilerOptions = {
    ...{ target: "es2023", module: "nodenext", strict: true, exactOptionalPropertyTypes: true },
    ...{ noUncheckedIndexedAccess: true, skipLibCheck: false, types: ["node"], allowJs: true, checkJs: true },
    ...{ preserveSymlinks: true, outDir: "out" },
  };
  writeFileSync(project, JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  try {
    execFileSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", project, "--pretty", "false"], {
      cwd: directory,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    return "";
  } catch (error) {
    return String((error as { readonly stdout?: string }).stdout);
  }
}

function packagesIn(modules: string): string[] {
  return readdirSync(modules).flatMap((name) => {
    if (name.startsWith(".")) return [];
    return name.startsWith("@") ? readdirSync(join(modules, name)).map((one) => `${name}/${one}`) : [name];
  });
}

function sizeOf(modules: string, name: string, isCounted: (file: string) => boolean): number {
  return readdirSync(join(modules, name), { recursive: true, encoding: "utf8" })
    .filter((file) => isCounted(`${name}/${file}`))
    .map((file) => statSync(join(modules, name, file)))
    .reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
}
