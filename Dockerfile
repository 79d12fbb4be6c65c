# kvviz as a container. DEPLOY.md says how it is run, and what may be set.
#
#   docker build --build-arg COMMIT=$(git rev-parse HEAD) -t kvviz .
#   docker build --build-arg COMMIT=$(git rev-parse HEAD) --build-arg LIVE=1 -t kvviz-live .    with PyTorch for CUDA
FROM python:3.12-slim

ARG LIVE=""

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONPATH=/app \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    HF_HOME=/models \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501 \
    STREAMLIT_SERVER_HEADLESS=true \
    HF_HUB_DISABLE_TELEMETRY=1

WORKDIR /app

# First and apart: this layer is built again only when a version changes. Every file must be the one that was pinned.
COPY deploy/requirements.txt deploy/requirements-live.txt deploy/healthy.py deploy/
RUN python -m pip install --require-hashes --only-binary :all: -r deploy/requirements${LIVE:+-live}.txt

COPY LICENSE app.py ./
COPY .streamlit .streamlit
COPY assets assets
COPY pages pages
COPY kvviz kvviz
RUN python -m compileall -q app.py pages kvviz \
    && useradd --uid 1000 --create-home kvviz \
    && install --directory --owner=kvviz /models

# Last: it differs with every build, and what follows an argument is built again.
ARG COMMIT=""
ENV KVVIZ_COMMIT=${COMMIT}

USER 1000
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "deploy/healthy.py"]
CMD ["python", "-m", "streamlit", "run", "app.py"]
