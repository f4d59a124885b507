/** What a team server answers of plugins' routes: those that offer themselves. Most routes are about the files and programs of one machine. */
import type { AnyRoute } from "sessarc";

/** The kernel's own. */
const KERNEL = ["/api/status", "/api/plugins"];

/** `repositories`: of a project's repository. The dashboard shows them where the server has repositories. */
export type Offer = true | "repositories";

/** `meta: { team: true }` of a route. Undefined: it is refused. */
export function findOffer({ meta }: Pick<AnyRoute, "meta">): Offer | undefined {
  const offer = meta?.team;
  return offer === true || offer === "repositories" ? offer : undefined;
}

export type Offers = ReturnType<typeof createOffers>;

/** `routes`: of all plugins of a person's kernel. */
export function createOffers(routes: readonly AnyRoute[]) {
  const offered = [
    ...KERNEL.map((path) => ({ method: "GET", path, offer: true as Offer })),
    ...routes.flatMap((route) => {
      const offer = findOffer(route);
      return offer ? [{ method: route.method as string, path: toPath(route), offer }] : [];
    }),
  ];
  const patterns = offered.flatMap(({ method, path }) =>
    path.endsWith("/**") ? [] : [{ method, steps: path.split("/") }],
  );

  return {
    /** Paths that GET reads. */
    paths: offered.flatMap(({ method, path }) => (method === "GET" ? path : [])),

    /** For the dashboard: routes as it names them. */
    named: (hasRepositories: boolean): string[] =>
      offered.flatMap(({ method, path, offer }) =>
        path.startsWith("/api/") && (hasRepositories || offer !== "repositories")
          ? `${method} ${path.slice("/api".length)}`
          : [],
      ),

    /** Whether a request may reach a person's kernel. */
    isAllowed(method: string, path: string): boolean {
      const asked = method === "HEAD" ? "GET" : method;
      if (asked === "GET" && !isApi(path)) return true;
      const segments = path.split("/");
      return patterns.some((pattern) => pattern.method === asked && fits(pattern.steps, segments));
    },
  };
}

/** Paths that are no page of the dashboard. */
export const isApi = (path: string): boolean =>
  ["/api", "/mcp", "/share", "/auth", "/plugins", "/oauth"].some(
    (mount) => path === mount || path.startsWith(`${mount}/`),
  );

const toPath = ({ mount, path }: AnyRoute): string => (mount === "/" ? path : `/api${path}`);

const fits = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length &&
  pattern.every((step, i) => (step.startsWith(":") ? segments[i] !== "" : step === segments[i]));
