/** Everything an adapter may learn about the machine; tests redirect it. */
export interface AdapterEnv {
  home: string;
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
}
