{{- define "olvido.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "olvido.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "olvido.labels" -}}
{{ include "olvido.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "olvido.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}

{{- define "olvido.secret" -}}
{{ default (include "olvido.fullname" .) .Values.existingSecret }}
{{- end -}}

{{- define "olvido.kind" -}}
{{ ternary "StatefulSet" "Deployment" .Values.spool.persistence.enabled }}
{{- end -}}

{{/* The proxy's configuration, with what the chart itself has to know of it. */}}
{{- define "olvido.config" -}}
{{- $server := dict "drain" .Values.drainSeconds -}}
{{- if gt (int .Values.workers) 1 }}{{ $_ := set $server "workers" .Values.workers }}{{ end -}}
{{- toYaml (mergeOverwrite (deepCopy .Values.config) (dict "server" $server)) -}}
{{- end -}}

{{/* job, init or none: when the schema is brought up to date. */}}
{{- define "olvido.migrate" -}}
{{- if ne (dig "storage" "kind" "sqlite" .Values.config) "postgres" -}}none
{{- else if and .Values.postgresql.enabled (eq .Values.migrate "job") -}}init
{{- else -}}{{ .Values.migrate }}
{{- end -}}
{{- end -}}

{{/* Refuses values that would only show later that they cannot work. */}}
{{- define "olvido.check" -}}
{{- $given := .Values.secrets -}}
{{- if and .Values.existingSecret $given }}{{ fail "existingSecret names a Secret that there is: put what `secrets` gives into it" }}{{ end -}}
{{- if not .Values.existingSecret -}}
{{- $needed := list "OLVIDO_ADMIN_TOKEN" "OLVIDO_METRICS_TOKEN" -}}
{{- if contains "${DATABASE_URL}" (toYaml .Values.config) }}{{ $needed = append $needed (ternary "POSTGRES_PASSWORD" "DATABASE_URL" .Values.postgresql.enabled) }}{{ end -}}
{{- if contains "${REDIS_URL}" (toYaml .Values.config) }}{{ $needed = append $needed (ternary "REDIS_PASSWORD" "REDIS_URL" .Values.redis.enabled) }}{{ end -}}
{{- range $needed }}{{ if not (get $given .) }}{{ fail (printf "secrets.%s is needed, or an existingSecret that has it" .) }}{{ end }}{{ end -}}
{{- end -}}
{{- range list "drain" "workers" -}}
{{- if hasKey (default dict $.Values.config.server) . }}{{ fail (printf "config.server.%s: give `%s` instead, which the chart needs to know" . (ternary "drainSeconds" "workers" (eq . "drain"))) }}{{ end -}}
{{- end -}}
{{- if ne (dig "storage" "kind" "sqlite" .Values.config) "postgres" -}}
{{- if or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled }}{{ fail "config.storage.kind must be postgres: pods share nothing else, and there is more than one" }}{{ end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}{{ fail "ingress.host is needed" }}{{ end -}}
{{- if gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas) }}{{ fail "autoscaling.minReplicas is above maxReplicas" }}{{ end -}}
{{- end -}}

{{- define "olvido.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "olvido.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Environment of the proxy; `secret`: the name of the Secret, which a hook has a copy of. */}}
{{- define "olvido.environment" -}}
{{- with .root -}}
envFrom:
  - secretRef: {name: {{ $.secret }}}
{{- if or .Values.postgresql.enabled .Values.redis.enabled }}
env:
{{- if .Values.postgresql.enabled }}
  - name: POSTGRES_PASSWORD
    valueFrom: {secretKeyRef: {name: {{ $.secret }}, key: POSTGRES_PASSWORD}}
  - name: DATABASE_URL
    value: postgresql://olvido:$(POSTGRES_PASSWORD)@{{ include "olvido.fullname" . }}-postgresql:5432/olvido
{{- end }}
{{- if .Values.redis.enabled }}
  - name: REDIS_PASSWORD
    valueFrom: {secretKeyRef: {name: {{ $.secret }}, key: REDIS_PASSWORD}}
  - name: REDIS_URL
    value: redis://:$(REDIS_PASSWORD)@{{ include "olvido.fullname" . }}-redis:6379/0
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Container that brings the schema up to date. */}}
{{- define "olvido.migration" -}}
name: migrate
image: {{ include "olvido.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: [db, upgrade]
{{ include "olvido.environment" . }}
securityContext:
  {{- include "olvido.containerSecurity" .root | nindent 2 }}
resources:
  requests: {cpu: 100m, memory: 256Mi}
  limits: {memory: 512Mi}
volumeMounts:
  - {name: config, mountPath: /etc/olvido, readOnly: true}
  - {name: spool, mountPath: /var/lib/olvido}
  - {name: tmp, mountPath: /tmp}
{{- end -}}
